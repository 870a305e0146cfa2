/**
 * Announces refunds that the scanner read: value of a deposit address that was paid to its refund authority, whoever sent the
 * transaction. Each is announced in its block, and again once the block is final. Only readers that ask for details see
 * these events.
 */
import type { RefundDetectedData, RefundDetectedDetails } from "@sluice/sdk/wire";
import { listByWallets, listNotes, NO_NOTES } from "../../addresses/index.ts";
import type { BlockRef, Outflow } from "../../chains/port/index.ts";
import { displayTxHash } from "../../core/base58.ts";
import { unpadAddress } from "../../core/hex.ts";
import type { Tx } from "../../db/schema.ts";
import { listRefundsIn, type RefundInBlock } from "../../deposits/index.ts";
import { appendEvents } from "../../events/index.ts";
import type { IntakeDeps } from "../deps.ts";

type RefundEventType = "refund_detected" | "refund_final";
type AnnounceDeps = Pick<IntakeDeps, "random" | "displayAddress">;

/**
 * Appends an event per refund of a block, and a second one if the block is final. Should be the last statement of its
 * transaction, to keep the stamp lock short.
 */
export async function announceRefunds(
  tx: Tx,
  deps: AnnounceDeps,
  chainId: number,
  block: Pick<BlockRef, "number"> & { readonly isFinal: boolean },
  outflows: readonly Outflow[],
): Promise<void> {
  const refunds = outflows.flatMap((outflow) =>
    outflow.kind === "refunded" ? [{ ...outflow, blockNumber: block.number }] : [],
  );
  await append(tx, deps, chainId, { type: "refund_detected", refunds });
  if (block.isFinal) await append(tx, deps, chainId, { type: "refund_final", refunds });
}

/** Appends an event per refund in the blocks that became final: those after `after` up to `through`. Last, as above. */
export async function announceFinalRefunds(
  tx: Tx,
  deps: AnnounceDeps,
  chainId: number,
  blocks: { readonly after: bigint; readonly through: bigint },
): Promise<void> {
  const refunds = await listRefundsIn(tx, chainId, blocks);
  await append(tx, deps, chainId, { type: "refund_final", refunds });
}

async function append(
  tx: Tx,
  deps: AnnounceDeps,
  chainId: number,
  { type, refunds }: { readonly type: RefundEventType; readonly refunds: readonly RefundInBlock[] },
): Promise<void> {
  if (refunds.length === 0) return;
  const addresses = await listByWallets(
    tx,
    refunds.map(({ wallet }) => wallet),
  );
  const notes = await listNotes(
    tx,
    [...addresses.values()].map(({ id }) => id),
  );
  const events = refunds.flatMap(({ wallet, token, amount, txHash, blockNumber }) => {
    const address = addresses.get(wallet);
    if (!address) return [];
    const data: RefundDetectedData = {
      walletAddress: deps.displayAddress(wallet),
      chainId,
      tokenAddress: deps.displayAddress(token),
      amount: amount.toString(),
      txHash: displayTxHash(txHash),
      blockNumber: Number(blockNumber),
    };
    const { label, metadata } = notes.get(address.id) ?? NO_NOTES;
    const details: RefundDetectedDetails = {
      depositAddressId: address.id,
      userId: address.userId,
      label,
      metadata: { ...metadata },
      refundTo: deps.displayAddress(
        unpadAddress(address.commitment.refundAuthority, address.family),
      ),
    };
    return [{ integratorId: address.integratorId, type, data, details }];
  });
  await appendEvents(tx, deps.random, events);
}
