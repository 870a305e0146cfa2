/**
 * Lists the folder that writes each table, and the folders that read it. The tidy test compares this list with the
 * statements in the code, so that queries are in the store of the table's owner, and no folder depends on rows of a
 * folder above it.
 *
 * Triggers and functions of the database are not listed: triggers write the ledger lines, and `append_events` the events.
 */
import type { Database } from "./schema.ts";

/** Owner and readers of a table: folders below `src`, or files without their extension. */
export interface TableOwner {
  /** The only folder with statements that write the table. */
  readonly owner: string;
  /** Other folders with statements that read the table, and why the owner does not read for them. */
  readonly readers?: Readonly<Record<string, string>>;
  /**
   * Parts of the auditor, which compares rows of the whole service with each other and with the chains. Only they may be
   * below the owner: they do not change the rows that they compare, and only composition calls them.
   */
  readonly proofs?: readonly string[];
}

const ROUTE_AUDITS = ["routes/swift/audit", "routes/fast-mctp/audit"];
/** Gauges, which count rows of several tables in one statement. */
const LEFT = { "health/chain-left": "counts the work left on a chain before it is retired" };
/** Details of a settlement: one statement in the transaction of each change of status. */
const DETAILS = "the details of a settlement are read at once, in the transaction of its event";
const GAUGES = { "health/rows": "counts rows for metrics" };

export const TABLE_OWNERS: Readonly<Record<keyof Database, TableOwner>> = {
  integrators: {
    owner: "integrators",
    readers: {
      "routes/swift/store":
        "an integrator's share of the inventory counts where there is another one",
      addresses: "an address is issued on the integrator's terms, in one transaction with them",
      "settlements/operator": "the file of a settlement names the integrator",
    },
  },
  rate_limits: { owner: "api" },
  idempotency_keys: { owner: "api" },
  pauses: { owner: "settlements" },
  integrator_actions: { owner: "integrators" },
  screenings: { owner: "settlements" },
  screening_records: { owner: "settlements" },
  api_keys: { owner: "integrators" },
  key_usage: { owner: "integrators" },
  pay_links: { owner: "pay" },
  operators: { owner: "operators" },
  operator_invitations: { owner: "operators" },
  operator_passkeys: { owner: "operators" },
  operator_challenges: { owner: "operators" },
  operator_sessions: { owner: "operators" },
  operator_log: { owner: "operators" },
  addresses: {
    owner: "addresses",
    readers: {
      "deposits/list": "a page of deposits shows the user of each address",
      "settlements/list": "a page of swaps shows the user and the recipient",
      "settlements/operator": "the operators' list shows the destination of each settlement",
      "settlements/details": DETAILS,
      ...LEFT,
    },
    proofs: ["ledger", ...ROUTE_AUDITS],
  },
  address_notes: {
    owner: "addresses",
    readers: {
      "settlements/details": DETAILS,
      "deposits/list": "a page of deposits shows the notes of each address",
    },
  },
  chain_actions: { owner: "addresses" },
  governance_changes: { owner: "governance", readers: GAUGES },
  governance_watches: { owner: "governance", readers: GAUGES },
  scanner_blocks: { owner: "scanner", readers: GAUGES, proofs: ["ledger"] },
  scanner_finality: { owner: "scanner", readers: GAUGES, proofs: ["ledger"] },
  scanner_orders: { owner: "scanner" },
  scanner_lags: { owner: "scanner" },
  balance_rounds: { owner: "scanner" },
  fresh_wallets: { owner: "addresses" },
  deposits: {
    owner: "deposits",
    readers: {
      "scanner/store": "deposits that are not final are found by the heights of their chains",
      "settlements/store/deposits": "the last deposit is found by its settlement's holding",
      "settlements/details": DETAILS,
      "settlements/operator": "a settlement is found by the transaction or the amount of a deposit",
      "settlements/screening": "the deposits that a sweep would take are joined with their answers",
    },
    proofs: ["ledger"],
  },
  outflows: { owner: "deposits", proofs: ["ledger"] },
  settlements: {
    owner: "settlements",
    readers: { ...LEFT, ...GAUGES },
    proofs: ["ledger", ...ROUTE_AUDITS],
  },
  settlement_transitions: { owner: "settlements" },
  operator_actions: { owner: "settlements" },
  address_refunds: { owner: "settlements" },
  open_refunds: { owner: "settlements" },
  refund_states: { owner: "settlements" },
  lanes: {
    owner: "transactions",
    readers: {
      ...GAUGES,
      governance: "accounts of the lanes may be listed in the contracts; the keys are elsewhere",
    },
    proofs: ["ledger"],
  },
  transactions: {
    owner: "transactions",
    readers: {
      "settlements/operator": "a refund is listed with its outcome",
      "routes/swift/audit": "a lock is looked for once its sweep is final",
      ...LEFT,
      ...GAUGES,
    },
  },
  lane_actions: { owner: "transactions" },
  attempts: {
    owner: "transactions",
    readers: { "settlements/operator": "a refund is listed with the hash signed last", ...GAUGES },
    proofs: ["ledger"],
  },
  backups: { owner: "backups" },
  moves: { owner: "rebalancing" },
  deliveries: { owner: "routes/swift", readers: { ...LEFT, "settlements/details": DETAILS } },
  payout_searches: { owner: "routes/swift" },
  inventory_reservations: { owner: "routes/swift", readers: GAUGES },
  payout_hours: { owner: "routes/swift" },
  early_payouts: { owner: "routes/swift" },
  early_closures: { owner: "routes/swift" },
  early_losses: { owner: "routes/swift" },
  attestations: { owner: "routes/swift" },
  attestation_answers: { owner: "routes/swift" },
  bridge_transfers: {
    owner: "routes/fast-mctp",
    readers: { ...LEFT, "settlements/details": DETAILS },
  },
  events: {
    owner: "events",
    readers: {
      webhooks: "deliveries are inserted from events in one statement with the cursor",
    },
  },
  webhook_cursors: { owner: "webhooks" },
  webhook_endpoints: { owner: "webhooks" },
  webhook_secrets: { owner: "webhooks" },
  webhook_deliveries: { owner: "webhooks" },
  webhook_attempts: { owner: "webhooks" },
  ledger_lines: { owner: "ledger", readers: LEFT },
  adjusted_balances: { owner: "ledger" },
  breaches: { owner: "ledger", readers: GAUGES },
  audit_rounds: { owner: "ledger", readers: GAUGES },
  rpc_budgets: { owner: "db/rpc-budgets" },
  schema_migrations: { owner: "db/migrate" },
};
