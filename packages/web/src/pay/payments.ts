/** Groups a status into payments, each in one state that the page has words for. Pure. */
import type { PayDeposit, PaySettlement, PaySource, PayStatus } from "@sluice/sdk/wire";

/** States of a payment. */
export type PaymentState =
  /** In a block that may still be orphaned, and not settled yet. */
  | "received"
  /** A settlement delivers it. */
  | "moving"
  | "delivered"
  /** Below the minimum: it waits for more. */
  | "short"
  /** Not delivered, for another reason than its size. */
  | "held"
  /** Its block was orphaned: it may come back in another one. */
  | "orphaned"
  /** Its block was orphaned and it did not come back: nothing of it is at the address. */
  | "dropped"
  /** Delivery ended without success; it can be refunded. */
  | "refundable"
  | "refunding"
  | "refunded";

/** One or several deposits that are delivered together. */
export interface Payment {
  readonly key: string;
  readonly state: PaymentState;
  readonly chainId: number;
  readonly tokenAddress: string;
  /** Base units. */
  readonly amount: bigint;
  readonly deposits: readonly PayDeposit[];
  readonly settlement: PaySettlement | null;
  readonly refundTxHash: string | null;
  readonly at: string;
}

/** Returns the payments of a status, newest first. */
export function listPayments(status: PayStatus): readonly Payment[] {
  const { deposits, settlements, refunds } = status;
  const known = new Set(settlements.map(({ id }) => id));
  const settled = settlements.map((settlement): Payment => {
    const own = deposits.filter(({ settlementId }) => settlementId === settlement.id);
    const sum = own.reduce((total, { amount }) => total + BigInt(amount), 0n);
    const refund = refunds.find(
      ({ chainId, tokenAddress, requestedAt }) =>
        chainId === settlement.chainId &&
        tokenAddress === settlement.tokenAddress &&
        requestedAt >= settlement.createdAt,
    );
    return {
      key: settlement.id,
      state: stateOf(settlement, own, refund?.state),
      chainId: settlement.chainId,
      tokenAddress: settlement.tokenAddress,
      amount: settlement.amount === null ? sum : BigInt(settlement.amount),
      deposits: own,
      settlement,
      refundTxHash: settlement.refundTxHash ?? refund?.txHash ?? null,
      at: settlement.createdAt,
    };
  });
  const alone = deposits
    .filter(({ settlementId }) => settlementId === null || !known.has(settlementId))
    .map((deposit): Payment => {
      const { id, chainId, tokenAddress, amount, detectedAt } = deposit;
      return {
        key: id,
        state: STATES[deposit.outcome],
        chainId,
        tokenAddress,
        amount: BigInt(amount),
        deposits: [deposit],
        settlement: null,
        refundTxHash: null,
        at: detectedAt,
      };
    });
  return [...settled, ...alone].toSorted((a, b) => (a.at < b.at ? 1 : -1));
}

function stateOf(
  settlement: PaySettlement,
  deposits: readonly PayDeposit[],
  refund: PayStatus["refunds"][number]["state"] | undefined,
): PaymentState {
  const { status, isRefunded, waiting } = settlement;
  if (status === "completed") return "delivered";
  if (isRefunded || refund === "refunded") return "refunded";
  if (waiting?.reason === "refund" || refund === "sent" || refund === "mined") return "refunding";
  if (refund === "requested") return "refunding";
  const hasStarted = settlement.sweepTxHash !== null;
  const isGone =
    !hasStarted && deposits.length > 0 && deposits.every(({ finality }) => finality === "orphaned");
  if (status === "dead") return isGone ? "dropped" : "refundable";
  if (isGone) return "orphaned";
  const isConfirming = deposits.some(({ finality }) => finality === "confirming");
  return !hasStarted && isConfirming ? "received" : "moving";
}

/** States of deposits whose settlement is not listed, by what became of them. */
const STATES: Readonly<Record<PayDeposit["outcome"], PaymentState>> = {
  queued: "received",
  settling: "moving",
  held: "moving",
  settled: "delivered",
  dead: "refundable",
  refunded: "refunded",
  below_minimum: "short",
  no_route: "held",
  orphaned: "orphaned",
};

/** Returns the least advanced deposit's confirmations; null where none is counted any more. */
export function confirmationsOf({ deposits }: Payment): {
  readonly done: number;
  readonly required: number | null;
} | null {
  const counted = deposits.filter(({ finality }) => finality === "confirming");
  const [least] = counted.toSorted((a, b) => a.confirmations - b.confirmations);
  return least ? { done: least.confirmations, required: least.confirmationsRequired } : null;
}

/** Returns the token of a chain as the status shows it. */
export function findToken(
  { sources }: Pick<PayStatus, "sources">,
  of: { readonly chainId: number; readonly tokenAddress: string },
): (PaySource["tokens"][number] & { readonly source: PaySource }) | null {
  const source = sources.find(({ chainId }) => chainId === of.chainId);
  const token = source?.tokens.find(({ address }) => address === of.tokenAddress);
  return source && token ? { ...token, source } : null;
}
