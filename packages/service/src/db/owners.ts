/**
 * Which folder writes each table, and which others read it. The tidy test compares this with the statements in the code,
 * so that a query of a table is found in the store of its owner, and no folder depends on rows of one above it.
 *
 * Triggers and functions of the database are not listed: triggers write the lines of the ledger, whichever statement has
 * them written, and `append_event` the events.
 */
import type { Database } from "./schema.ts";

/** Folders below `src`, or files without their ending. */
export interface TableOwner {
  /** The only one with statements that write the table. */
  readonly owner: string;
  /** Others that read it in statements of their own, and why they are not handed what they need. */
  readonly readers?: Readonly<Record<string, string>>;
  /**
   * Parts of the auditor, which compares rows of the whole service with each other and with the chains. They alone may
   * stand below the owner: they change nothing that they compare, and only composition calls them.
   */
  readonly proofs?: readonly string[];
}

const ROUTE_AUDITS = ["routes/swift/audit", "routes/fast-mctp/audit"];
/** Gauges count rows of many tables in one statement. */
const GAUGES = { "health/rows": "counts rows for metrics" };

export const TABLE_OWNERS: Readonly<Record<keyof Database, TableOwner>> = {
  integrators: {
    owner: "integrators",
    readers: {
      addresses: "an address is issued on the integrator's terms, in one transaction with them",
      "settlements/operator": "the file of a settlement names the integrator",
    },
  },
  api_keys: { owner: "integrators" },
  addresses: {
    owner: "addresses",
    readers: {
      "deposits/list": "a page of deposits shows the user of each address",
      "settlements/list": "a page of swaps is filtered by user, and shows the recipient",
    },
    proofs: ["ledger", ...ROUTE_AUDITS],
  },
  scanner_blocks: { owner: "scanner", readers: GAUGES, proofs: ["ledger"] },
  scanner_finality: { owner: "scanner", readers: GAUGES },
  balance_rounds: { owner: "scanner" },
  deposits: {
    owner: "deposits",
    readers: {
      "settlements/store/deposits": "the last deposit is found by its settlement's holding",
    },
    proofs: ["ledger"],
  },
  outflows: { owner: "deposits", proofs: ["ledger"] },
  settlements: { owner: "settlements", readers: GAUGES, proofs: ["ledger", ...ROUTE_AUDITS] },
  settlement_transitions: { owner: "settlements" },
  operator_actions: { owner: "settlements" },
  address_refunds: { owner: "settlements" },
  open_refunds: { owner: "settlements" },
  lanes: { owner: "transactions", readers: GAUGES, proofs: ["ledger"] },
  transactions: {
    owner: "transactions",
    readers: { "settlements/operator": "a refund is listed with what became of it", ...GAUGES },
  },
  attempts: {
    owner: "transactions",
    readers: { "settlements/operator": "a refund is listed with the hash signed last", ...GAUGES },
    proofs: ["ledger"],
  },
  deliveries: { owner: "routes/swift" },
  inventory_reservations: { owner: "routes/swift", readers: GAUGES },
  attestations: { owner: "routes/swift" },
  bridge_transfers: { owner: "routes/fast-mctp" },
  events: { owner: "events" },
  ledger_lines: { owner: "ledger" },
  breaches: { owner: "ledger", readers: GAUGES },
  audit_rounds: { owner: "ledger", readers: GAUGES },
};
