/**
 * Prometheus metrics of a process. Rows and facts of a chain are gauges, set at each scrape. Events are counters of this
 * process, incremented where they happen; an event in a database transaction that is rolled back is counted again by its
 * repetition.
 *
 * Amounts are in base units. Labels have few values, all from the configuration or the code; none names a customer, a
 * deposit address, a key or a path.
 */
import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from "prom-client";
import { SETTLEMENT_STATUS_NAMES } from "@sluice/sdk/wire";
import { findChainById } from "../core/chain-registry.ts";

/** From a cached query to a poll that waits for a node until the timeout. */
const SECONDS_BUCKETS = [0.005, 0.02, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];
/** From a payout after one block to a deposit that waits for an operator; 3600 is the objective of the alert rules. */
const SETTLEMENT_BUCKETS = [2.5, 5, 10, 30, 60, 300, 900, 1_800, 3_600, 14_400, 86_400];

/** Metrics of one process; each property is one metric. */
export type Metrics = ReturnType<typeof createMetrics>;

/** Returns the label of a chain: its name in the registry, or its bridge chain id. */
export function chainLabel(chainId: number): string {
  return findChainById(chainId)?.name ?? String(chainId);
}

/** Creates the metrics of one process in their own registry. */
export function createMetrics() {
  const registry = new Registry();
  const registers = [registry];
  const gauge = <const Label extends string>(
    name: string,
    help: string,
    labelNames: readonly Label[] = [],
  ) => new Gauge<Label>({ name: `sluice_${name}`, help, labelNames: [...labelNames], registers });
  const counter = <const Label extends string>(
    name: string,
    help: string,
    labelNames: readonly Label[] = [],
  ) => new Counter<Label>({ name: `sluice_${name}`, help, labelNames: [...labelNames], registers });
  const histogram = <const Label extends string>(
    name: string,
    help: string,
    labelNames: readonly Label[],
    buckets: readonly number[] = SECONDS_BUCKETS,
  ) =>
    new Histogram<Label>({
      name: `sluice_${name}`,
      help,
      labelNames: [...labelNames],
      buckets: [...buckets],
      registers,
    });
  const lane = ["chain", "purpose", "account"] as const;
  const inventory = ["chain", "token"] as const;

  return {
    registry,

    roleRunning: gauge("role_running", "1 if this process runs the role, 0 while it is standby.", [
      "role",
    ]),
    // Set at each scrape, so that a scrape during an outage shows it.
    databaseUp: gauge("database_up", "1 if the database answered this scrape, else 0."),
    databaseConnections: gauge(
      "database_pool_connections",
      "Database connections of this process, by pool and state (idle, busy).",
      ["pool", "state"],
    ),
    databaseWaiting: gauge(
      "database_pool_waiting",
      "Queries waiting for a database connection, by pool.",
      ["pool"],
    ),

    // Heights are block numbers on EVM chains and slots on Solana.
    scannerHead: gauge("scanner_head_height", "Height of the node's head.", ["chain"]),
    scannerScanned: gauge("scanner_scanned_height", "Height of the newest scanned block.", [
      "chain",
    ]),
    scannerFinal: gauge(
      "scanner_final_height",
      "Height up to which the scanned blocks are final.",
      ["chain"],
    ),
    scannerLag: gauge(
      "scanner_lag_blocks",
      "Blocks between the node's head and the newest scanned block.",
      ["chain"],
    ),
    scannerFinalLag: gauge(
      "scanner_final_lag_blocks",
      "Blocks between the node's head and the newest scanned block that is final.",
      ["chain"],
    ),
    scannerBlockAge: gauge(
      "scanner_last_block_age_seconds",
      "Seconds since the last block was scanned, or since the start.",
      ["chain"],
    ),
    scannedBlocks: counter("scanner_scanned_blocks_total", "Scanned blocks.", ["chain"]),

    // The event's count: several transfers of a token to a wallet in one block are one deposit.
    depositsDetected: counter(
      "deposits_detected_total",
      "Detected deposits: one per wallet, token and block.",
      ["chain"],
    ),
    depositsIgnored: counter(
      "deposits_ignored_total",
      "Detected deposits that did not queue a settlement, by reason.",
      ["chain", "reason"],
    ),

    quotaRefusals: counter(
      "quota_refusals_total",
      "Settlements that the quota of their integrator refused.",
      ["chain"],
    ),

    settlements: gauge("settlements", "Active settlements, by status.", ["chain", "status"]),
    settlementsOldest: gauge(
      "settlements_oldest_active_age_seconds",
      "Age of the oldest active settlement.",
      ["chain"],
    ),
    settlementsHeld: gauge(
      "settlements_held",
      "Active settlements that a state of the contracts does not allow to continue, by the contract's error.",
      ["chain", "reason"],
    ),
    transitions: counter(
      "settlement_transitions_total",
      "Status changes of settlements, by the new status.",
      ["chain", "status"],
    ),
    settlementSeconds: histogram(
      "settlement_duration_seconds",
      "Time from the start of a settlement to its completion, by source chain and route.",
      ["chain", "route"],
      SETTLEMENT_BUCKETS,
    ),

    laneOpen: gauge("lane_open_nonces", "Assigned nonces that are not mined.", lane),
    laneQueued: gauge("lane_queued_transactions", "Queued transactions without a nonce.", lane),
    laneNextNonce: gauge("lane_next_nonce", "Next nonce to assign.", lane),
    laneChainNonce: gauge(
      "lane_chain_nonce",
      "Transaction count of the account on the chain.",
      lane,
    ),
    laneNonceGap: gauge(
      "lane_nonce_gap",
      "Next nonce minus the on-chain count; negative if the chain is ahead of the database.",
      lane,
    ),
    laneStuck: gauge(
      "lane_stuck_attempts",
      "Open nonces whose first attempt was signed more than five minutes ago.",
      lane,
    ),
    laneOldest: gauge(
      "lane_oldest_open_nonce_age_seconds",
      "Age of the oldest transaction among the open nonces.",
      lane,
    ),
    // Lamports on Solana: the name is that of the first family.
    laneBalance: gauge(
      "lane_balance_wei",
      "Native coin of the lane's account, which pays for gas.",
      lane,
    ),
    laneReplacements: counter(
      "lane_replacements_total",
      "Replacements signed with higher fees.",
      lane,
    ),
    laneReverts: counter("lane_reverts_total", "Mined transactions that reverted.", lane),

    pricesUnavailable: counter(
      "prices_unavailable_total",
      "Reads of a token's price without a usable result, by reason.",
      ["chain", "token", "reason"],
    ),
    priceSourceFaults: counter(
      "price_source_faults_total",
      "Faults of single sources of a token's price.",
      ["chain", "token"],
    ),

    auditBreaches: gauge("audit_breaches", "Open breaches that halt a chain.", ["chain"]),
    auditQuarantines: gauge(
      "audit_quarantines",
      "Wallets and tokens in quarantine because their balance does not agree.",
      ["chain"],
    ),
    auditUnproved: gauge(
      "audit_unproved",
      "Payouts whose transaction no node shows, so that the audit cannot compare them.",
      ["chain"],
    ),
    auditAge: gauge(
      "audit_age_seconds",
      "Seconds since the ledger was last compared with a final block.",
      ["chain"],
    ),

    governanceUnexpected: gauge(
      "governance_unexpected_changes",
      "Changes of the contracts by owner or guardian that stand and that this deployment does not expect.",
      ["chain"],
    ),
    governanceAge: gauge(
      "governance_watch_age_seconds",
      "Seconds since the changes of the contracts were last known up to the newest final block.",
      ["chain"],
    ),

    inventoryBalance: gauge(
      "inventory_balance_base_units",
      "Inventory of a token in a Delivery contract.",
      inventory,
    ),
    inventoryReserved: gauge(
      "inventory_reserved_base_units",
      "Inventory reserved for active settlements.",
      inventory,
    ),
    inventoryMin: gauge(
      "inventory_min_base_units",
      "Configured minimum of the inventory (`inventoryMin`).",
      inventory,
    ),
    inventoryCapLeft: gauge(
      "inventory_daily_cap_left_base_units",
      "Amount that the daily cap still allows to be paid.",
      inventory,
    ),

    bridgeServiceFailures: counter(
      "bridge_service_failures_total",
      "Failed requests for bridge attestations, by reason.",
      ["reason"],
    ),
    routesPaused: gauge(
      "routes_paused",
      "Routes paused after repeated failures, by source chain.",
      ["chain", "kind"],
    ),

    // Kinds are the attestor's messages: delivery, claim, return, price.
    attestationsSigned: counter(
      "attestation_requests_signed_total",
      "Requests that the attestor signed.",
      ["kind"],
    ),
    attestationsRefused: counter(
      "attestation_requests_refused_total",
      "Requests that the attestor refused.",
      ["kind"],
    ),
    attestedRatesRefused: counter(
      "attested_rates_refused_total",
      "Requested rates that attestors refused, or from which the settler's own moved too far, by source chain.",
      ["chain"],
    ),

    rpcRequests: counter(
      "rpc_requests_total",
      "Requests to a node, by method and outcome; those of a batch count one by one.",
      ["chain", "node", "method", "outcome"],
    ),
    rpcSeconds: histogram(
      "rpc_request_duration_seconds",
      "Time until a node's answer was read; a batch counts once, as method `batch`.",
      ["chain", "node", "method"],
    ),
    rpcBytes: counter(
      "rpc_bytes_total",
      "Bytes of requests (sent) and of a node's answers after decompression (received).",
      ["chain", "node", "direction"],
    ),
    rpcBudgetUsed: gauge(
      "rpc_day_budget_used_ratio",
      "Share of a node's daily budget (`requestsPerDay`) that is reserved or used, 0 to 1.",
      ["chain", "node"],
    ),

    rpcPushConnected: gauge(
      "rpc_push_connected",
      "1 while a node's WebSocket is subscribed to new blocks, else 0.",
      ["chain", "node"],
    ),
    rpcPushNotices: counter(
      "rpc_push_notices_total",
      "Notices of new blocks from a node's WebSocket.",
      ["chain", "node"],
    ),

    rpcStreamConnected: gauge(
      "rpc_stream_connected",
      "1 while a node's stream sends blocks, else 0.",
      ["chain", "node"],
    ),
    rpcStreamBlocks: counter("rpc_stream_blocks_total", "Whole blocks from a node's stream.", [
      "chain",
      "node",
    ]),

    configReloads: counter(
      "config_reloads_total",
      "Requests to read the configuration again: `applied`, or `refused` with nothing changed.",
      ["outcome"],
    ),
    signerRefusals: counter(
      "signer_refusals_total",
      "Requests refused by a signer's policy, by the lane's purpose or `attest`.",
      ["chain", "purpose"],
    ),

    eventsAppended: counter("events_appended_total", "Appended events, by type.", ["type"]),
    streamSockets: gauge("stream_sockets", "Connected sockets of the live stream."),

    // The template of the route, never its path: a path names customers and has unlimited values.
    webhookAttempts: counter("webhook_attempts_total", "Attempts of webhooks, by outcome.", [
      "outcome",
    ]),
    webhookSeconds: histogram(
      "webhook_attempt_duration_seconds",
      "Time until an endpoint answered a webhook, or the attempt failed.",
      ["outcome"],
    ),
    webhookLagSeconds: histogram(
      "webhook_lag_seconds",
      "Time from an event to the first attempt of its webhook.",
      [],
    ),
    webhookEndpointsDisabled: counter(
      "webhook_endpoints_disabled_total",
      "Endpoints of webhooks that were disabled, by reason (gone: answered 410; failing: for five days).",
      ["reason"],
    ),

    httpRequests: counter("http_requests_total", "Answered requests, by route template.", [
      "service",
      "method",
      "route",
      "status",
    ]),
    refusals: counter(
      "refusals_total",
      "Refused requests, handshakes and connections of callers, by reason: a limit, a missing or wrong key.",
      ["service", "reason"],
    ),
    httpSeconds: histogram("http_request_duration_seconds", "Time until the answer was sent.", [
      "service",
      "method",
      "route",
    ]),

    // The names of these two are part of dashboards and alert rules, and stay.
    pollSeconds: histogram("loop_look_duration_seconds", "Duration of a loop's polls.", ["loop"]),
    pollFailures: counter("loop_look_failures_total", "Failed polls, which are retried.", ["loop"]),
  };
}

/** Registers the default metrics of a process: `process_*` and `nodejs_*`. */
export function collectProcessMetrics({ registry }: Metrics): void {
  collectDefaultMetrics({ register: registry });
}

/**
 * Initialises counters with zero for each label value. Otherwise a counter would appear with its first event, and
 * `increase()` would not see that event.
 */
export function startCounters(metrics: Metrics, chainIds: readonly number[]): void {
  for (const chain of chainIds.map(chainLabel)) {
    metrics.depositsDetected.inc({ chain }, 0);
    metrics.attestedRatesRefused.inc({ chain }, 0);
    for (const status of SETTLEMENT_STATUS_NAMES) metrics.transitions.inc({ chain, status }, 0);
    for (const purpose of ["deploy", "settle", "deliver", "claim", "attest"]) {
      metrics.signerRefusals.inc({ chain, purpose }, 0);
    }
  }
  for (const outcome of ["applied", "refused"]) metrics.configReloads.inc({ outcome }, 0);
  for (const kind of ["delivery", "claim", "return", "price"]) {
    metrics.attestationsSigned.inc({ kind }, 0);
    metrics.attestationsRefused.inc({ kind }, 0);
  }
}
