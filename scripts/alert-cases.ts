/** When each alert fires, and when it does not: the cases from which the tests of the alert rules are written. */

/** Values of series by their name with labels, in Prometheus's notation: a start, a step and how often, one a minute. */
type Series = Readonly<Record<string, string>>;

export interface AlertCase {
  readonly alert: string;
  /** Fires it. */
  readonly fires: Series;
  /** The same situation on the other side of its bound. */
  readonly quiet: Series;
  /** The labels of the alert, beside its severity. */
  readonly labels: Readonly<Record<string, string>>;
  /** The value that the summary shows, as it shows it. */
  readonly value?: string;
  /** Minutes after the start at which it fires, if that is not when the rule's own time has passed. */
  readonly afterMin?: number;
}

/** A value that stays for more than an hour, the longest time of a rule. */
const stays = (value: number) => `${value}+0x70`;
/** A counter that grows by so much a minute. */
const grows = (step: number) => `0+${step}x70`;
/** A counter that was created with the first event, ten minutes ago. */
const once = "0x9 1x60";

const chain = { chain: "base" };
const lane = { chain: "base", purpose: "settle", account: "0xlane" };
const LANE = `{chain="base",purpose="settle",account="0xlane"}`;
const token = { chain: "base", token: "USDC" };
const TOKEN = `{chain="base",token="USDC"}`;

const gauge = (
  alert: string,
  name: string,
  [fires, quiet]: readonly [number, number],
  labels: Readonly<Record<string, string>> = chain,
  more: Pick<AlertCase, "value"> = {},
): AlertCase => {
  const pairs = Object.entries(labels).map(([label, text]) => `${label}="${text}"`);
  const series = `${name}{${pairs.join(",")}}`;
  return {
    alert,
    fires: { [series]: stays(fires) },
    quiet: { [series]: stays(quiet) },
    labels,
    ...more,
  };
};

const counter = (
  alert: string,
  series: string,
  labels: Readonly<Record<string, string>>,
): AlertCase => ({
  alert,
  fires: { [series]: once },
  quiet: { [series]: stays(7) },
  labels,
  afterMin: 12,
});

const role = (name: string) => `sluice_role_running{role="${name}"}`;
const roles = (running: readonly string[]): Series =>
  Object.fromEntries(running.map((name) => [role(name), stays(1)]));

export const ALERT_CASES: readonly AlertCase[] = [
  {
    alert: "SluiceRoleMissing",
    fires: roles(["scanner", "settler", "auditor"]),
    quiet: roles(["scanner", "settler", "attestor", "auditor"]),
    labels: { role: "attestor" },
  },
  {
    alert: "SluiceLoopFailing",
    fires: {
      'sluice_loop_look_failures_total{loop="scan"}': grows(6),
      'sluice_loop_look_duration_seconds_count{loop="scan"}': grows(6),
    },
    quiet: {
      'sluice_loop_look_failures_total{loop="scan"}': grows(5),
      'sluice_loop_look_duration_seconds_count{loop="scan"}': grows(6),
    },
    labels: { loop: "scan" },
    afterMin: 30,
  },
  gauge("SluiceScannerStalled", "sluice_scanner_last_block_age_seconds", [301, 300]),
  ...["Fast", "Slow"].map((pace) =>
    gauge(`SluiceDetectionObjective${pace}`, "sluice_scanner_last_block_age_seconds", [121, 120]),
  ),
  gauge("SluiceScannerBehind", "sluice_scanner_lag_blocks", [301, 300], chain, { value: "301" }),
  gauge(
    "SluiceRpcBudgetLow",
    "sluice_rpc_day_budget_used_ratio",
    [0.9, 0.8],
    { ...chain, node: "0" },
    { value: "90%" },
  ),
  {
    alert: "SluiceRpcRateLimited",
    fires: {
      'sluice_rpc_requests_total{chain="base",node="0",outcome="rate_limited"}': grows(6),
      'sluice_rpc_requests_total{chain="base",node="0",outcome="answered"}': grows(94),
    },
    quiet: {
      'sluice_rpc_requests_total{chain="base",node="0",outcome="rate_limited"}': grows(4),
      'sluice_rpc_requests_total{chain="base",node="0",outcome="answered"}': grows(96),
    },
    labels: { ...chain, node: "0" },
    afterMin: 30,
  },
  gauge("SluiceBooksInBreach", "sluice_audit_breaches", [1, 0]),
  gauge("SluiceWalletQuarantined", "sluice_audit_quarantines", [2, 0], chain, { value: "2" }),
  gauge("SluicePayoutUnproved", "sluice_audit_unproved", [3, 0], chain, { value: "3" }),
  gauge("SluiceBooksNotAudited", "sluice_audit_age_seconds", [3_601, 3_600]),
  gauge("SluiceGovernanceUnexpected", "sluice_governance_unexpected_changes", [1, 0]),
  gauge("SluiceGovernanceNotWatched", "sluice_governance_watch_age_seconds", [86_401, 86_400]),
  gauge("SluiceSettlementOld", "sluice_settlements_oldest_active_age_seconds", [7_201, 7_200]),
  ...(["Fast", "Slow"] as const).map((pace) => ({
    alert: `SluiceSettlementObjective${pace}`,
    fires: {
      'sluice_settlement_duration_seconds_bucket{chain="base",route="SWIFT",le="3600"}': grows(
        pace === "Fast" ? 85 : 93,
      ),
      'sluice_settlement_duration_seconds_count{chain="base",route="SWIFT"}': grows(100),
    },
    quiet: {
      'sluice_settlement_duration_seconds_bucket{chain="base",route="SWIFT",le="3600"}': grows(
        pace === "Fast" ? 86 : 95,
      ),
      'sluice_settlement_duration_seconds_count{chain="base",route="SWIFT"}': grows(100),
    },
    labels: chain,
  })),
  counter(
    "SluiceSettlementDead",
    'sluice_settlement_transitions_total{chain="base",status="dead"}',
    { ...chain, status: "dead" },
  ),
  gauge(
    "SluiceSettlementsHeld",
    "sluice_settlements_held",
    [4, 0],
    { ...chain, reason: "IsPaused" },
    { value: "4" },
  ),
  counter(
    "SluiceDepositNotQueued",
    'sluice_deposits_ignored_total{chain="base",reason="no_adapter"}',
    { ...chain, reason: "no_adapter" },
  ),
  gauge("SluiceLaneStuck", "sluice_lane_oldest_open_nonce_age_seconds", [601, 600], lane),
  gauge("SluiceLaneNonceTaken", "sluice_lane_nonce_gap", [-1, 0], lane),
  counter("SluiceSignerRefuses", `sluice_signer_refusals_total${LANE}`, lane),
  gauge("SluiceLaneOutOfGas", "sluice_lane_balance_wei", [1.9e16, 2e16], lane),
  {
    alert: "SluiceLaneReverts",
    fires: { [`sluice_lane_reverts_total${LANE}`]: grows(1) },
    quiet: { [`sluice_lane_reverts_total${LANE}`]: "0x9 1x4 2x50" },
    labels: lane,
    afterMin: 15,
  },
  {
    alert: "SluiceInventoryExhausted",
    fires: {
      [`sluice_inventory_balance_base_units${TOKEN}`]: stays(1_000),
      [`sluice_inventory_reserved_base_units${TOKEN}`]: stays(1_000),
    },
    quiet: {
      [`sluice_inventory_balance_base_units${TOKEN}`]: stays(1_001),
      [`sluice_inventory_reserved_base_units${TOKEN}`]: stays(1_000),
    },
    labels: token,
  },
  {
    alert: "SluiceInventoryLow",
    fires: {
      [`sluice_inventory_balance_base_units${TOKEN}`]: stays(1_099),
      [`sluice_inventory_reserved_base_units${TOKEN}`]: stays(1_000),
      [`sluice_inventory_min_base_units${TOKEN}`]: stays(100),
    },
    quiet: {
      [`sluice_inventory_balance_base_units${TOKEN}`]: stays(1_100),
      [`sluice_inventory_reserved_base_units${TOKEN}`]: stays(1_000),
      [`sluice_inventory_min_base_units${TOKEN}`]: stays(100),
    },
    labels: token,
  },
  {
    alert: "SluiceInventoryRunsOut",
    fires: {
      [`sluice_inventory_balance_base_units${TOKEN}`]: "100000-100x400",
      [`sluice_inventory_reserved_base_units${TOKEN}`]: "0+0x400",
    },
    quiet: {
      [`sluice_inventory_balance_base_units${TOKEN}`]: "1000000-100x400",
      [`sluice_inventory_reserved_base_units${TOKEN}`]: "0+0x400",
    },
    labels: token,
    afterMin: 400,
  },
  {
    alert: "SluiceDailyCapUsedUp",
    fires: {
      [`sluice_inventory_daily_cap_left_base_units${TOKEN}`]: stays(50),
      [`sluice_inventory_reserved_base_units${TOKEN}`]: stays(50),
    },
    quiet: {
      [`sluice_inventory_daily_cap_left_base_units${TOKEN}`]: stays(51),
      [`sluice_inventory_reserved_base_units${TOKEN}`]: stays(50),
    },
    labels: token,
  },
  gauge("SluiceDeliveryUnpaid", "sluice_deliveries_oldest_age_seconds", [3_601, 3_600], {
    ...chain,
    state: "locked",
  }),
  gauge("SluiceDeliveryUnclaimed", "sluice_claims_overdue", [1, 0], { ...chain, kind: "6h" }),
  gauge("SluiceDeliveryUnclaimedDay", "sluice_claims_overdue", [1, 0], { ...chain, kind: "24h" }),
  gauge("SluiceDeliveryUnclaimedTwoDays", "sluice_claims_overdue", [1, 0], {
    ...chain,
    kind: "48h",
  }),
  gauge(
    "SluiceEarlyLockMissing",
    "sluice_early_payouts_usd",
    [1, 0],
    { ...chain, state: "missing" },
    { value: "1" },
  ),
  gauge("SluiceEarlyPayoutsClosed", "sluice_early_payouts_closed", [1, 0], {
    ...chain,
    kind: "operator",
  }),
  gauge("SluiceDeliveryReturning", "sluice_deliveries_oldest_age_seconds", [172_801, 172_800], {
    ...chain,
    state: "returning",
  }),
  gauge("SluiceInventoryMoveLate", "sluice_inventory_moves_oldest_age_seconds", [21_601, 21_600], {
    ...chain,
    state: "moved",
  }),
  gauge("SluiceInventoryMoveFailed", "sluice_inventory_moves", [1, 0], {
    ...chain,
    state: "failed",
  }),
  gauge("SluiceTransferUnattested", "sluice_bridge_transfers_oldest_age_seconds", [7_201, 7_200], {
    ...chain,
    state: "burned",
  }),
  gauge(
    "SluiceTransferUndelivered",
    "sluice_bridge_transfers_oldest_age_seconds",
    [10_801, 10_800],
    { ...chain, state: "attested" },
  ),
  {
    alert: "SluiceBridgeServiceFails",
    fires: { 'sluice_bridge_service_failures_total{reason="unreachable"}': grows(1) },
    quiet: { 'sluice_bridge_service_failures_total{reason="unreachable"}': "0+1x5 5x60" },
    labels: { reason: "unreachable" },
    afterMin: 30,
  },
  gauge("SluiceRoutePaused", "sluice_routes_paused", [1, 0], { ...chain, kind: "SWIFT" }),
  counter(
    "SluicePriceUnavailable",
    'sluice_prices_unavailable_total{chain="base",token="WETH",reason="too_old"}',
    { ...chain, token: "WETH", reason: "too_old" },
  ),
  {
    alert: "SluicePriceSourceFails",
    fires: { 'sluice_price_source_faults_total{chain="base",token="WETH"}': grows(1) },
    quiet: { 'sluice_price_source_faults_total{chain="base",token="WETH"}': once },
    labels: { ...chain, token: "WETH" },
    afterMin: 60,
  },
  gauge("SluiceAttestorSilent", "sluice_attestation_requests_oldest_age_seconds", [3_601, 3_600], {
    kind: "delivery",
  }),
  gauge("SluiceAttestorSilent", "sluice_attestation_requests_oldest_age_seconds", [61, 60], {
    kind: "price",
  }),
  counter("SluiceAttestorRefuses", 'sluice_attestation_requests_refused_total{kind="delivery"}', {
    kind: "delivery",
  }),
  counter("SluiceAttestedRateDiffers", 'sluice_attested_rates_refused_total{chain="base"}', chain),
  gauge("SluiceDatabaseAway", "sluice_database_up", [0, 1], { instance: "a:9464" }),
  gauge("SluiceDatabasePoolExhausted", "sluice_database_pool_waiting", [1, 0], {
    instance: "a:9464",
    pool: "settler",
  }),
  {
    alert: "SluiceApiErrors",
    fires: {
      'sluice_http_requests_total{service="api",status="500"}': grows(6),
      'sluice_http_requests_total{service="api",status="200"}': grows(94),
    },
    quiet: {
      'sluice_http_requests_total{service="api",status="500"}': grows(4),
      'sluice_http_requests_total{service="api",status="200"}': grows(96),
    },
    labels: { service: "api" },
    afterMin: 15,
  },
  ...(["Fast", "Slow"] as const).map((pace) => ({
    alert: `SluiceApiObjective${pace}`,
    fires: {
      'sluice_http_requests_total{service="api",status="503"}': grows(pace === "Fast" ? 15 : 7),
      'sluice_http_requests_total{service="api",status="200"}': grows(pace === "Fast" ? 985 : 993),
    },
    quiet: {
      'sluice_http_requests_total{service="api",status="503"}': grows(pace === "Fast" ? 14 : 5),
      'sluice_http_requests_total{service="api",status="200"}': grows(pace === "Fast" ? 986 : 995),
    },
    labels: { service: "api" },
  })),
  gauge("SluiceBackupOld", "sluice_backup_age_seconds", [93_601, 93_600], { kind: "database" }),
  gauge("SluiceWebhooksLate", "sluice_webhook_deliveries_oldest_overdue_seconds", [61, 60], {
    state: "healthy",
  }),
];
