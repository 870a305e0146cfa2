import type { Chain } from "../../chains/port.ts";
import { feeOf, minOutOf, rescale } from "../../core/amounts.ts";
import { assert } from "../../core/assert.ts";
import { OperatingError } from "../../core/errors.ts";
import type { EvmAddress } from "../../core/hex.ts";
import type { Clock } from "../../core/ports.ts";
import type { Db } from "../../db/schema.ts";
import type { Route } from "../port.ts";
import * as store from "./store.ts";

/**
 * `SWIFT`: the wallet's balance is locked in an escrow on the source chain, and the destination is paid from inventory.
 * Same asset on both sides; the contracts hold the pair, and paying one lock twice is impossible on chain.
 */
export function createSwiftRoute(options: {
  readonly db: Db;
  readonly clock: Clock;
  readonly source: Chain;
  readonly destination: Chain;
  readonly token: EvmAddress;
  readonly decimalsIn: number;
  readonly destToken: EvmAddress;
  readonly decimalsOut: number;
  readonly contract: EvmAddress;
  readonly feeBps: number;
}): Route {
  const { db, clock, source, destination, token, destToken, decimalsIn, decimalsOut } = options;

  const held = { destChain: destination.chainId, token: destToken };

  function payoutOf(amount: bigint, maxFeeBps: number): bigint {
    const net = amount - feeOf(amount, Math.min(options.feeBps, maxFeeBps));
    return rescale(net, decimalsIn, decimalsOut);
  }

  return {
    kind: "SWIFT",
    pair: {
      srcChain: source.chainId,
      srcToken: token,
      destChain: destination.chainId,
      destToken,
    },
    contract: options.contract,
    decimalsIn,
    decimalsOut,
    etaSeconds: 60,
    waitsForFinality: true,

    quote(amount, maxFeeBps) {
      return {
        amountOut: payoutOf(amount, maxFeeBps),
        minOut: minOutOf({ amount, maxFeeBps, decimalsIn, decimalsOut }),
      };
    },

    buildSweep({ commitment }) {
      return source.buildSettle({ commitment, token, route: options.contract, routeData: "0x" });
    },

    async readInventory() {
      const reserved = await store.sumReserved(db, held);
      const balance = await destination.getBalance(destToken, destination.addresses.delivery);
      return { reserved, balance };
    },

    async reserve(tx, { settlementId, amount, inventory }) {
      // Whichever sum is larger: reservations made and given back since the balance was read are both in one of them.
      const now = await store.lockReserved(tx, held);
      const reserved = now > inventory.reserved ? now : inventory.reserved;
      const needed = payoutOf(amount, 0);
      if (inventory.balance - reserved < needed) return false;
      await store.upsertReservation(tx, { ...held, settlementId, amount: needed });
      return true;
    },

    release: (tx, settlementId) => store.deleteReservation(tx, settlementId),

    readSweep(receipt, { wallet, commitment }) {
      const settled = receipt.effects.find(
        (effect) => effect.kind === "settled" && effect.wallet === wallet && effect.token === token,
      );
      const locked = receipt.effects.find(
        (effect) => effect.kind === "locked" && effect.wallet === wallet && effect.token === token,
      );
      if (settled?.kind !== "settled" || locked?.kind !== "locked") return null;
      assert(
        locked.commitment === source.hashCommitment(commitment),
        "the escrow locks under the commitment of the wallet",
      );
      return {
        amount: locked.amount,
        minOut: locked.minOut,
        logIndex: settled.logIndex,
        deliveryId: locked.deliveryId,
      };
    },

    async recordSweep(tx, { settlementId, address, sweep, receipt }) {
      const locked = receipt.effects.find(
        (effect) => effect.kind === "locked" && effect.deliveryId === sweep.deliveryId,
      );
      assert(locked?.kind === "locked", "a SWIFT sweep locks");
      const payAmount = payoutOf(sweep.amount, address.commitment.maxFeeBps);
      await store.upsertReservation(tx, {
        settlementId,
        destChain: destination.chainId,
        token: destToken,
        amount: payAmount,
      });
      await store.insertDelivery(
        tx,
        {
          id: locked.deliveryId,
          settlementId,
          srcChain: source.chainId,
          escrow: locked.escrow,
          wallet: locked.wallet,
          token: locked.token,
          seq: locked.seq,
          lockedAmount: locked.amount,
          minOut: locked.minOut,
          destChain: destination.chainId,
          destToken,
          destWallet: address.destWallet,
          payAmount,
        },
        clock.now(),
      );
    },

    async lookForDelivery({ sweep }) {
      assert(sweep.deliveryId !== null, "a SWIFT sweep names its delivery");
      const delivery = await store.getDelivery(db, sweep.deliveryId);
      assert(delivery !== null, "a recorded lock has its delivery");
      if (delivery.deliveredTxHash !== null && delivery.deliveredAmount !== null) {
        return {
          kind: "delivered",
          txHash: delivery.deliveredTxHash,
          amount: delivery.deliveredAmount,
        };
      }
      if (delivery.trouble === null) return { kind: "waiting" };
      const { code, message, details } = delivery.trouble;
      return {
        kind: "troubled",
        // CAST: details were written from ErrorDetails by the delivery worker.
        error: new OperatingError(code, message, {
          details: (details ?? {}) as Record<string, string>,
        }),
      };
    },
  };
}
