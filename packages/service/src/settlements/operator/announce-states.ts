/**
 * Announces the states of refunds that the service makes, for readers that ask for details: one event per state, in the
 * transaction that records it as announced. A state that passed between two polls is announced with the next one, so that
 * each refund has every state of its way in their order.
 */
import {
  REFUND_STATES_FINAL,
  type RefundChangedData,
  type RefundChangedDetails,
  type RefundState,
} from "@sluice/sdk/wire";
import { getAddressById, listNotes, NO_NOTES } from "../../addresses/index.ts";
import { displayTxHash } from "../../core/base58.ts";
import { appendEvents } from "../../events/index.ts";
import type { SettlementDeps } from "../deps.ts";
import { readUnsent, type UnsentState } from "./attested-refund.ts";
import { type AddressRefund, type AnnouncedRefund, listOpenStates, putState } from "./refunds.ts";

const REFUNDS_AT_ONCE = 100;

/** The way of a refund that succeeds. */
const WAY: readonly RefundState[] = ["requested", "sent", "mined", "refunded"];

/** Announces new states of the refunds of a chain. An error affects one refund only. */
export async function announceRefundStates(deps: SettlementDeps, chainId: number): Promise<void> {
  let after = 0n;
  for (;;) {
    const page = { chainId, after, limit: REFUNDS_AT_ONCE };
    const open = await listOpenStates(deps.db, page);
    for (const refund of open) {
      try {
        await announce(deps, refund);
      } catch (error) {
        deps.log.warn({ err: error, refund: refund.intent }, "refund not announced, retrying");
      }
    }
    const last = open.at(-1);
    if (!last || open.length < REFUNDS_AT_ONCE) return;
    after = last.number;
  }
}

async function announce(deps: SettlementDeps, refund: AnnouncedRefund): Promise<void> {
  const { db, random, displayAddress } = deps;
  const unsent = await readUnsent(deps, refund);
  const now = stateOf(refund, unsent);
  if (now === refund.announced) return;
  const address = await getAddressById(db, refund.addressId);
  const notes = await listNotes(db, [address.id]);
  const { label, metadata } = notes.get(address.id) ?? NO_NOTES;
  const details: RefundChangedDetails = {
    depositAddressId: address.id,
    userId: address.userId,
    label,
    metadata: { ...metadata },
    refundTo: displayAddress(refund.authority),
  };
  let prevState = refund.announced;
  const events = listStates(prevState, now).map((state) => {
    const data: RefundChangedData = {
      refundId: refund.id,
      walletAddress: displayAddress(refund.wallet),
      chainId: refund.chainId,
      tokenAddress: displayAddress(refund.token),
      amount: refund.amount.toString(),
      state,
      prevState,
      terminal: REFUND_STATES_FINAL.some((final) => final === state),
      txHash: state === "requested" ? null : refund.txHash && displayTxHash(refund.txHash),
      refusal: state === "refused" && unsent?.kind === "refused" ? unsent.refusal : null,
    };
    prevState = state;
    return { integratorId: address.integratorId, type: "refund_changed" as const, data, details };
  });
  await db.transaction().execute(async (tx) => {
    if (await putState(tx, refund, now)) await appendEvents(tx, random, events);
  });
  deps.wakeEvents(address.integratorId);
}

/** Returns the states from the announced one, which is left out, to the present one. */
function listStates(from: RefundState | null, now: RefundState): readonly RefundState[] {
  const begin = from === null ? 0 : WAY.indexOf(from) + 1;
  const end = WAY.indexOf(now);
  if (end >= begin) return WAY.slice(begin, end + 1);
  // Another end, or back: a reorg removed the block of the transaction.
  return from === null && now !== "requested" ? ["requested", now] : [now];
}

/** Returns the state of a refund as the interface names it. */
export function stateOf(
  { state, succeeded, txHash }: AddressRefund,
  unsent: UnsentState | null,
): RefundState {
  if (unsent) return unsent.kind === "asked" ? "requested" : unsent.kind;
  if (state === "final") return succeeded ? "refunded" : "failed";
  if (state === "abandoned") return "failed";
  if (state === "mined") return "mined";
  return txHash === null ? "requested" : "sent";
}
