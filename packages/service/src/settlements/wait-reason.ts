/** Names the one reason why a settlement waits, for its integrator. Pure: a function of recorded facts. */
import { isTerminal, type SettlementWait, type WaitReason } from "@sluice/sdk/wire";
import type { ShownDelivery, ShownTransfer } from "../routes/index.ts";
import type { ShownTransaction } from "../transactions/index.ts";
import { hasValueInFlight } from "./in-flight.ts";
import { PAUSED } from "./operator/pauses.ts";
import { SCREENING_PENDING, SCREENING_REFUSED } from "./screening/rows.ts";
import type { Settlement, SettlementError } from "./types.ts";

/** Newest read block of a chain, and its newest final block; null while unknown. */
export interface Heights {
  readonly tip: bigint | null;
  readonly final: bigint | null;
}

/** Facts about a settlement that decide why it waits. */
export interface WaitFacts {
  readonly settlement: Settlement;
  readonly error: SettlementError | null;
  readonly retryAt: string | null;
  readonly transactions: readonly ShownTransaction[];
  readonly deliveries: readonly ShownDelivery[];
  readonly transfers: readonly ShownTransfer[];
  readonly openRefund: string | null;
  readonly destChain: number;
  readonly heights: ReadonlyMap<number, Heights>;
}

/** The bridge's reason for a late attestation that the end of its allowance causes. */
const ALLOWANCE_USED_UP = "insufficient_allowance_available";

/** Returns why a settlement waits; null for a terminal one without an open refund. */
export function findWaitReason(facts: WaitFacts): SettlementWait | null {
  const { settlement, error, transactions, transfers, deliveries, openRefund, destChain } = facts;
  const { chainId } = settlement;
  const open = transactions.findLast(({ state }) => state !== "final" && state !== "abandoned");
  if (isTerminal(settlement.status)) {
    return settlement.status === "dead" && open?.intent.startsWith("refund:")
      ? ofTransaction(facts, open, "refund")
      : null;
  }
  if (settlement.step === "sweep" && hasValueInFlight(settlement) && open) {
    return ofTransaction(facts, open);
  }
  if (settlement.step === "deliver") {
    const transfer = transfers.findLast(({ state }) => state !== "superseded");
    const lock = deliveries.findLast(({ state }) => state !== "returned" && state !== "taken_back");
    const payment = open?.chainId === destChain ? open : undefined;
    if (payment) return ofTransaction(facts, payment);
    if (transfer) return ofBridge(facts, transfer);
    if (error) return ofError(facts, error);
    if (lock?.state === "locked" && open?.state === "mined" && open.chainId === chainId) {
      return lock.waitsFor === null ? ofTransaction(facts, open) : ofExposure(facts, lock, open);
    }
    if (lock) return wait(facts, "delivery", "the payment from inventory", { chainId: destChain });
    return wait(facts, "confirmations", "confirmations of its payment", { chainId: destChain });
  }
  if (openRefund !== null) {
    return wait(facts, "refund", "a refund of the address to end", { chainId });
  }
  if (error) return ofError(facts, error);
  if (open) return ofTransaction(facts, open);
  return wait(facts, "worker", "its turn to be processed", { chainId });
}

function ofTransaction(
  facts: WaitFacts,
  { chainId, state, minedBlock, attempts, intent }: ShownTransaction,
  reason?: WaitReason,
): SettlementWait {
  const kind = intent.split(":")[0] ?? "transaction";
  if (state === "mined" && minedBlock !== null) {
    const { confirmations, required } = countConfirmations(facts.heights.get(chainId), minedBlock);
    const progress = confirmations === null ? "" : ` (${confirmations} of ${required ?? "?"})`;
    return wait(
      facts,
      reason ?? "confirmations",
      `the ${kind} transaction to be final${progress}`,
      {
        chainId,
        confirmations,
        required,
      },
    );
  }
  const what = attempts.some(({ accepted }) => accepted) ? "be mined" : "be accepted by a node";
  return wait(facts, reason ?? "transaction", `the ${kind} transaction to ${what}`, { chainId });
}

/** Says why a lock is paid later than its tier allows: at the latest when it is final. */
function ofExposure(
  facts: WaitFacts,
  { waitsFor }: ShownDelivery,
  sweep: ShownTransaction,
): SettlementWait {
  const why =
    waitsFor === "exposure"
      ? "room for another payment before finality, or the lock to be final"
      : "the lock to be final: payments before finality are closed on its chain";
  return { ...ofTransaction(facts, sweep, "exposure"), message: why };
}

function ofBridge(facts: WaitFacts, { state, delayReason }: ShownTransfer): SettlementWait {
  const { error, destChain } = facts;
  if (error && delayReason === null) return ofError(facts, error);
  const late = delayReason === null ? "" : `, which is late: ${delayReason}`;
  return wait(
    facts,
    delayReason === ALLOWANCE_USED_UP ? "bridge_allowance" : "bridge",
    state === "burned"
      ? `the bridge's attestation${late}`
      : "the bridge's message to be delivered and confirmed",
    { chainId: state === "burned" ? facts.settlement.chainId : destChain, delayReason },
  );
}

/** Reasons by the `reason` in an error's details. */
const BY_DETAIL: ReadonlyMap<unknown, WaitReason> = new Map<unknown, WaitReason>([
  [PAUSED, "pause"],
  [SCREENING_PENDING, "screening"],
  [SCREENING_REFUSED, "screening"],
  ["quarantined", "quarantine"],
  ["inventory_too_low", "inventory"],
  ["address_share_reached", "inventory_share"],
  ["integrator_share_reached", "inventory_share"],
  ["cap_share_reached", "daily_cap"],
  ["daily_cap_reached", "daily_cap"],
  ["daily_cap", "daily_cap"],
  ["recipient_account", "recipient"],
  ["recipient_refuses", "recipient"],
  // The contracts' own pause, as their revert names it.
  ["Paused", "pause"],
]);

const BY_CODE: Partial<Record<SettlementError["code"], WaitReason>> = {
  FEE_NOT_COVERED: "gas_price",
  INSUFFICIENT_BALANCE: "operator_funds",
  AMOUNT_TOO_SMALL: "amount_too_small",
  PRICE_UNAVAILABLE: "price",
  RPC_UNAVAILABLE: "node",
  NO_ROUTE: "route",
  CONFIG_MISSING: "configuration",
  REORG: "reorg",
};

function ofError(facts: WaitFacts, { code, message, details }: SettlementError): SettlementWait {
  const detail = details?.["reason"];
  const isGas = code === "AMOUNT_TOO_SMALL" && detail === "fees";
  const reason = isGas ? "gas_price" : (BY_DETAIL.get(detail) ?? BY_CODE[code] ?? "retry");
  const named = details?.["chainId"];
  const chainId = typeof named === "number" ? named : facts.settlement.chainId;
  return wait(facts, reason, message, { chainId });
}

function wait(
  { retryAt }: WaitFacts,
  reason: WaitReason,
  message: string,
  more: Partial<SettlementWait>,
): SettlementWait {
  return {
    reason,
    message,
    chainId: null,
    confirmations: null,
    required: null,
    delayReason: null,
    retryAt,
    ...more,
  };
}

/** Counts the blocks from a block to the newest read one, and those with which blocks become final at present. */
export function countConfirmations(
  heights: Heights | undefined,
  block: bigint,
): { readonly confirmations: number | null; readonly required: number | null } {
  const { tip = null, final = null } = heights ?? {};
  if (tip === null) return { confirmations: null, required: null };
  const confirmations = tip < block ? 1 : Number(tip - block) + 1;
  const required = final === null || final > tip ? null : Number(tip - final) + 1;
  return { confirmations, required };
}
