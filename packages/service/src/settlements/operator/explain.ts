/** Explains where a settlement's value is and what the settlement waits for, from its file. */
import { isTerminal } from "@sluice/sdk/wire";
import type { ShownTransaction } from "../../transactions/index.ts";
import { hasValueInFlight } from "../in-flight.ts";
import type { SettlementFile } from "./file.ts";

/** Recorded place of a settlement's value. */
export type ValuePlace =
  /** In the deposit address. */
  | "deposit_address"
  /** A sweep is sent and may still fail. */
  | "sweeping"
  /** Locked, or swept and not yet found at its recipient. */
  | "escrow"
  | "recipient"
  | "refund_authority"
  /** Its deposits are orphaned, or the token's issuer emptied the wallet. */
  | "nowhere"
  /** It has no deposits: a later settlement took them, or none was found. */
  | "elsewhere";

/** Returns the place of a settlement's value. */
export function locateValue(file: SettlementFile): ValuePlace {
  const { settlement, error, deposits, deliveries } = file;
  if (settlement.status === "completed") return "recipient";
  if (deliveries.some(({ state }) => state === "taken_back")) return "refund_authority";
  if (error?.details?.["reason"] === "refunded") return "refund_authority";
  if (settlement.step === "deliver") return "escrow";
  if (hasValueInFlight(settlement)) return "sweeping";
  const isGone = error?.code === "REORG" || error?.details?.["reason"] === "balance_gone";
  if (isGone && settlement.status === "dead") return "nowhere";
  if (settlement.status === "dead" && deposits.length === 0) return "elsewhere";
  return "deposit_address";
}

/** Returns what a settlement waits for, in words; null for a terminal one without an open refund. */
export function explainWait(file: SettlementFile): string | null {
  const { settlement, error, retryAt, transactions, deliveries, transfers, openRefund } = file;
  const open = transactions.findLast(({ state }) => state !== "final" && state !== "abandoned");
  if (settlement.status === "dead" && open?.intent.startsWith("refund:")) return describeOpen(open);
  if (isTerminal(settlement.status)) return null;
  if (open && hasValueInFlight(settlement) && settlement.step === "sweep")
    return describeOpen(open);
  const lock = deliveries.findLast(({ state }) => state !== "returned" && state !== "taken_back");
  if (settlement.step === "deliver" && lock) {
    const cause = error ?? lock.error;
    const why = cause === null ? "" : `: ${typeof cause === "string" ? cause : cause.message}`;
    return `the delivery of lock ${lock.id} (${lock.state})${why}`;
  }
  const transfer = transfers.findLast(({ state }) => state !== "superseded");
  if (settlement.step === "deliver" && transfer) {
    const why = error?.message ?? transfer.error ?? transfer.delayReason;
    return `the bridge (${transfer.state})${why === null ? "" : `: ${why}`}`;
  }
  if (settlement.step === "deliver") return "enough confirmations of its payment";
  if (openRefund !== null) return `${openRefund} to end; the remaining balance is swept afterwards`;
  if (error) return `${error.code}: ${error.message}${retryAt === null ? " It is due now." : ""}`;
  if (open) return describeOpen(open);
  return "a worker to process it; does a settler run?";
}

function describeOpen({ intent, state, attempts }: ShownTransaction): string {
  switch (state) {
    case "queued":
      return `${intent} to get a nonce in its lane`;
    case "mined":
      return `${intent} to be final`;
    default:
      return attempts.some(({ accepted }) => accepted)
        ? `${intent} to be mined, ${attempts.length} attempt(s) sent`
        : `${intent} to be accepted by a node, ${attempts.length} attempt(s) signed`;
  }
}
