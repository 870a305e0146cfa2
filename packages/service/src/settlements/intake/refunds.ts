/**
 * Announces refunds that the scanner read: value of a deposit address that was paid to its refund authority, whoever sent the
 * transaction. Only readers that ask for details see these events.
 */
import type { RefundDetectedData, RefundDetectedDetails } from "@sluice/sdk/wire";
import { listByWallets, listNotes, NO_NOTES } from "../../addresses/index.ts";
import type { BlockRef, Outflow } from "../../chains/port/index.ts";
import { displayTxHash } from "../../core/base58.ts";
import { unpadAddress } from "../../core/hex.ts";
import type { Tx } from "../../db/schema.ts";
import { appendEvents } from "../../events/index.ts";
import type { IntakeDeps } from "../deps.ts";

/** Appends an event per refund of a block. Should be the last statement of its transaction, to keep the stamp lock short. */
export async function announceRefunds(
  tx: Tx,
  deps: Pick<IntakeDeps, "random" | "displayAddress">,
  chainId: number,
  block: Pick<BlockRef, "number">,
  outflows: readonly Outflow[],
): Promise<void> {
  const refunds = outflows.filter(({ kind }) => kind === "refunded");
  if (refunds.length === 0) return;
  const addresses = await listByWallets(
    tx,
    refunds.map(({ wallet }) => wallet),
  );
  const notes = await listNotes(
    tx,
    [...addresses.values()].map(({ id }) => id),
  );
  const events = refunds.flatMap(({ wallet, token, amount, txHash }) => {
    const address = addresses.get(wallet);
    if (!address) return [];
    const data: RefundDetectedData = {
      walletAddress: deps.displayAddress(wallet),
      chainId,
      tokenAddress: deps.displayAddress(token),
      amount: amount.toString(),
      txHash: displayTxHash(txHash),
      blockNumber: Number(block.number),
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
    return [
      { integratorId: address.integratorId, type: "refund_detected" as const, data, details },
    ];
  });
  await appendEvents(tx, deps.random, events);
}
