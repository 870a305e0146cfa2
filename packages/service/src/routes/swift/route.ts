import { proveRoute } from "../../addresses/index.ts";
import type { Chain } from "../../chains/port/index.ts";
import {
  type Caps,
  convert,
  fairOfMinOut,
  feeOf,
  minOutOf,
  minOutOfFair,
  RATE_SCALE,
  rescale,
} from "../../core/amounts.ts";
import { assert } from "../../core/assert.ts";
import { fromErrorObject, OperatingError } from "../../core/errors.ts";
import { type Address, padAddress } from "../../core/hex.ts";
import type { Clock } from "../../core/ports.ts";
import type { Db } from "../../db/schema.ts";
import { type FeeItems, type FeeTerms, type GasStep, itemise } from "../../fees/index.ts";
import type { InventoryShares } from "../../config/index.ts";
import type { Inventory, Reservation, Route } from "../port.ts";
import { type Depth, depthFor, type EarlyRules } from "./early/rules.ts";
import { isClosed, sumCounted } from "./early/store.ts";
import { boundsAround, type Pricing } from "./pricing.ts";
import * as store from "./store.ts";

/** Gas of the lock, the payout and the claim. */
export const SWIFT_GAS = [
  { on: "source", gas: 146_000n },
  { on: "destination", gas: 125_000n, paysRecipient: true },
  { on: "source", gas: 74_000n },
] as const satisfies readonly GasStep[];

/** Usual times of a chain. */
interface Pace {
  /** From a block to its finality. */
  readonly finalitySeconds: number;
  /** From a block to the next. */
  readonly blockSeconds: number;
}

const UNKNOWN_PACE: Pace = { finalitySeconds: 40, blockSeconds: 1 };
/** Until a deposit is swept and a payout is mined, without the wait for the lock. */
const OTHER_SECONDS = 20;
/** About the part of the time to finality after which a block is safe, on Ethereum and on rollups alike. */
const SAFE_SHARE = 1 / 2;

interface EarlyTier {
  /** US dollars times 1e18. */
  readonly worth: bigint;
  readonly after: Depth;
}

/**
 * `SWIFT`: locks the wallet's balance in an escrow on the source chain and pays from inventory on the destination. The
 * contracts fix the pair, and a lock cannot be paid twice. Pairs of different assets have a `pricing`.
 */
export function createSwiftRoute(options: {
  readonly db: Db;
  readonly clock: Clock;
  readonly source: Chain;
  readonly destination: Chain;
  readonly token: Address;
  readonly decimalsIn: number;
  readonly destToken: Address;
  readonly decimalsOut: number;
  readonly contract: Address;
  readonly pricing: Pricing | null;
  readonly limits?: InventoryShares;
  /** Rules of payouts before finality; undefined where every lock must be final. */
  readonly early?: EarlyRules | undefined;
  /** Usual times of the source chain, for estimates. */
  readonly pace?: Pace | undefined;
}): Route {
  const { limits = WHOLE_INVENTORY, early, pace = UNKNOWN_PACE } = options;
  const { db, clock, source, destination, token, destToken, pricing } = options;
  const { decimalsIn, decimalsOut, contract } = options;

  const held = { destChain: destination.chainId, token: destToken };
  const readRate = async () => (pricing ? pricing.readRate() : RATE_SCALE);
  const fairAt = (rate: bigint, amount: bigint) =>
    convert({ amount, rate, decimalsIn, decimalsOut });

  /**
   * Returns the payout of a lock. The fee is taken in source units where the conversion is exact, so that it never rounds
   * up.
   */
  function payoutOf(
    lock: { amount: bigint; minOut: bigint },
    caps: Caps,
    fee: FeeTerms,
  ): { readonly payout: bigint; readonly items: FeeItems } {
    const items = itemise(lock.amount, fee, caps.maxFeeBps);
    // Fees planned for a larger amount, or rounding to coarser units, could push the payout below the promised minimum.
    const atLeast = (payout: bigint) => (payout > lock.minOut ? payout : lock.minOut);
    if (pricing) {
      const fair = fairOfMinOut(lock.minOut, caps);
      const payout = fair - feeOf(fair, fee.bps) - (fair * items.gas) / lock.amount;
      return { payout: atLeast(payout), items };
    }
    const kept = items.service + items.gas;
    return { payout: atLeast(rescale(lock.amount - kept, decimalsIn, decimalsOut)), items };
  }

  function judge(amount: bigint, { balance, capLeft, reserved, rate }: Inventory): Reservation {
    const needed = largestPayout(amount, rate);
    if (balance - reserved < needed) return "inventory_too_low";
    return capLeft - reserved < needed ? "daily_cap_reached" : "reserved";
  }

  /** Returns the minimum delivery of an amount under the committed caps. */
  function minOutAt(rate: bigint, amount: bigint, caps: Caps): bigint {
    return pricing
      ? minOutOfFair(fairAt(rate, amount), caps)
      : minOutOf({ amount, maxFeeBps: caps.maxFeeBps, decimalsIn, decimalsOut });
  }

  /** Before fees, at the highest rate of the attestor that is used. */
  function largestPayout(amount: bigint, rate: bigint): bigint {
    const highest = pricing ? boundsAround(rate, pricing.rateToleranceBps).max : rate;
    return fairAt(highest, amount);
  }

  /** Returns the largest amount whose largest payout is not above a limit. */
  function largestAmount(payout: bigint, rate: bigint): bigint {
    const unit = largestPayout(10n ** BigInt(decimalsIn) * RATE_SCALE, rate);
    return unit === 0n ? 0n : (payout * 10n ** BigInt(decimalsIn) * RATE_SCALE) / unit;
  }

  /** Returns the tier of a payout before finality; null where its lock must be final. */
  async function judgeEarly(amount: bigint): Promise<EarlyTier | null> {
    if (!early || (await isClosed(db, source.chainId))) return null;
    const worth = await early.readWorth({ destChain: held.destChain, token: destToken, amount });
    if (worth === null) return null;
    const after = depthFor(early.terms, { token, destChain: held.destChain, worth });
    return after === null ? null : { worth, after };
  }

  /** Estimates the seconds from a lock to its payout, by the tier and the room that the exposure has at present. */
  async function estimateWait(amount: bigint): Promise<number> {
    const tier = await judgeEarly(amount);
    if (!early || !tier) return pace.finalitySeconds;
    const counted = await sumCounted(db, source.chainId);
    const hasRoom = counted + tier.worth <= early.terms.exposure;
    if (!hasRoom) return pace.finalitySeconds;
    const { after } = tier;
    return Math.ceil(
      after === "safe" ? pace.finalitySeconds * SAFE_SHARE : after * pace.blockSeconds,
    );
  }

  async function readInventory(): Promise<Inventory> {
    const reserved = await store.sumReserved(db, held);
    const balance = await destination.getBalance(destToken, destination.addresses.delivery);
    const capLeft = await destination.getDailyCapLeft(destToken);
    return { reserved, balance, capLeft, rate: await readRate() };
  }

  return {
    kind: "SWIFT",
    pair: {
      srcChain: source.chainId,
      srcToken: token,
      destChain: destination.chainId,
      destToken,
    },
    contract,
    decimalsIn,
    decimalsOut,
    etaSeconds: OTHER_SECONDS + pace.finalitySeconds,
    waitsForFinality: true,
    async mayPayEarly(amount) {
      return (await judgeEarly(largestPayout(amount, await readRate()))) !== null;
    },
    payer: "delivery",
    deliversBySweep: false,
    isPriced: pricing !== null,
    gasSteps: SWIFT_GAS,

    // Paid from inventory, so no bridge fee.
    readBridgeFee: async () => 0n,

    async quote(amount, caps, fee) {
      const rate = await readRate();
      const fair = fairAt(rate, amount);
      const minOut = minOutAt(rate, amount, caps);
      // The payout of a priced lock is computed back from its minimum and may round up, but not above the fair value.
      const { payout } = payoutOf({ amount, minOut }, caps, fee);
      return {
        fair,
        minOut,
        amountOut: payout < fair ? payout : fair,
        etaSeconds: OTHER_SECONDS + (await estimateWait(fair)),
      };
    },

    async prepareSweep(address, amount, _fee, { asOf, sources } = {}) {
      const { commitment } = address;
      const { escrow } = source.addresses;
      const ofLock = { srcChain: source.chainId, escrow, wallet: address.wallet, token };
      const price = pricing && (await pricing.attestPrice(address, amount));
      if (pricing && !price) return null;
      const routeData = source.encodeLockData({
        price,
        minOut: minOutAt(price ? price.price.rate : RATE_SCALE, amount, commitment),
        // Only one settlement at a time sweeps a token of a wallet, so each gets its own number.
        seq: await store.nextSeq(db, ofLock, clock.now()),
        lockedAt: BigInt(Math.floor(clock.now() / 1000)),
        delivery: padAddress(destination.addresses.delivery),
      });
      return source.buildSettle({
        commitment,
        token,
        route: contract,
        routeData,
        proof: proveRoute(address, { chainId: source.chainId, contract }),
        amount,
        asOf,
        sources,
      });
    },

    readInventory,

    async readCapacity(of) {
      const inventory = await readInventory();
      const shares = await store.readShares(db, held, { ...of, nowMs: clock.now() });
      return largestAmount(roomOf({ inventory, shares, limits }), inventory.rate);
    },

    judgeInventory: ({ amount, inventory }) => judge(amount, inventory),

    reserves: held,

    async reserve(tx, { amount, inventory, ...of }) {
      const needed = largestPayout(amount, inventory.rate);
      return store.reserve(tx, {
        ...of,
        held,
        nowMs: clock.now(),
        amount: needed,
        judge({ reserved: now, shares }) {
          // The larger sum: a reservation made or released since the balance was read is in one of the two.
          const reserved = now > inventory.reserved ? now : inventory.reserved;
          const verdict = judge(amount, { ...inventory, reserved });
          if (verdict !== "reserved") return verdict;
          return judgeShares(needed, { inventory, shares, limits }) ?? "reserved";
        },
      });
    },

    release: (tx, settlementId) => store.deleteReservation(tx, settlementId),

    async readSweep(receipt, { wallet, commitment }) {
      const settled = receipt.effects.find(
        (effect) =>
          effect.kind === "settled" &&
          effect.wallet === wallet &&
          effect.token === token &&
          effect.route === contract,
      );
      const locked = receipt.effects.find(
        (effect) => effect.kind === "locked" && effect.wallet === wallet && effect.token === token,
      );
      if (settled?.kind !== "settled" || locked?.kind !== "locked") return null;
      assert(
        locked.commitment === source.hashCommitment(commitment),
        "a lock's commitment is the wallet's",
      );
      return {
        amount: locked.amount,
        minOut: locked.minOut,
        logIndex: settled.logIndex,
        upTo: settled.upTo,
        deliveryId: locked.deliveryId,
      };
    },

    async recordSweep(tx, { settlementId, address, sweep, fee, receipt }) {
      const locked = receipt.effects.find(
        (effect) => effect.kind === "locked" && effect.deliveryId === sweep.deliveryId,
      );
      assert(locked?.kind === "locked", "a SWIFT sweep locks");
      const known = await store.getDelivery(tx, locked.deliveryId);
      if (known) {
        assert(known.lockedAmount === locked.amount, "an id names one amount");
        if (known.settlementId !== settlementId) {
          await store.takeOver(tx, { id: known.id, settlementId, nowMs: clock.now() });
        }
        await store.supersede(tx, { ...known, settlementId });
        await store.alignReservation(tx, settlementId);
        return store.recordLockTime(tx, known.id, locked.lockedAt);
      }
      const lock = {
        id: locked.deliveryId,
        settlementId,
        srcChain: source.chainId,
        escrow: locked.escrow,
        wallet: locked.wallet,
        token: locked.token,
        seq: locked.seq,
        delivery: locked.delivery,
      };
      await store.supersede(tx, lock);
      const { payout: payAmount, items } = payoutOf(sweep, address.commitment, fee);
      await store.upsertReservation(tx, {
        settlementId,
        destChain: destination.chainId,
        token: destToken,
        amount: payAmount,
      });
      await store.insertDelivery(
        tx,
        {
          ...lock,
          lockedAmount: locked.amount,
          minOut: locked.minOut,
          lockedAt: locked.lockedAt,
          destChain: destination.chainId,
          destToken,
          destWallet: address.destWallet,
          payAmount,
          feeService: items.service,
          feeGas: items.gas,
        },
        clock.now(),
      );
    },

    async checkDelivery({ sweep }) {
      assert(sweep.deliveryId !== null, "a SWIFT sweep has a delivery id");
      const delivery = await store.getDelivery(db, sweep.deliveryId);
      assert(delivery !== null, "a recorded lock has a delivery");
      if (delivery.deliveredTxHash !== null && delivery.deliveredAmount !== null) {
        return {
          kind: "delivered",
          txHash: delivery.deliveredTxHash,
          amount: delivery.deliveredAmount,
        };
      }
      if (delivery.state === "taken_back") return { kind: "taken_back" };
      const error = delivery.error && fromErrorObject(delivery.error);
      if (delivery.state === "returned") return { kind: "returned", error: error ?? tooLate() };
      return error ? { kind: "failing", error } : { kind: "waiting" };
    },
  };
}

const WHOLE_INVENTORY: InventoryShares = { addressBps: 10_000, integratorBps: 10_000 };

/** The terms of one reservation. */
interface Shared {
  readonly inventory: Inventory;
  readonly shares: store.Shares;
  readonly limits: InventoryShares;
}

/**
 * Lists what the shares leave of the inventory and of the daily cap, in destination base units. A lock whose recipient turns
 * against its payout holds a reservation for the whole payout window, so no address and no integrator reserves
 * everything; nor does an integrator use up the day's cap while there is another.
 */
function listRooms({ inventory, shares, limits }: Shared) {
  const { balance, capLeft } = inventory;
  const { ofAddress, ofIntegrator, paid, paidOfIntegrator } = shares;
  const leftOf = (whole: bigint, bps: number, taken: bigint) =>
    (whole * BigInt(bps)) / 10_000n - taken;
  const { addressBps, integratorBps } = limits;
  const ofAll = [
    { refusal: "address_share_reached", room: leftOf(balance, addressBps, ofAddress) },
  ] as const;
  if (!shares.isShared) return ofAll;
  const used = paidOfIntegrator + ofIntegrator;
  return [
    ...ofAll,
    { refusal: "integrator_share_reached", room: leftOf(balance, integratorBps, ofIntegrator) },
    { refusal: "cap_share_reached", room: leftOf(capLeft + paid, integratorBps, used) },
  ] as const;
}

/** Returns the first share that a reservation would exceed, or null. */
function judgeShares(needed: bigint, shared: Shared) {
  return listRooms(shared).find(({ room }) => room < needed)?.refusal ?? null;
}

/** Returns the largest reservation that inventory, daily cap and shares allow, in destination base units. */
function roomOf(shared: Shared): bigint {
  const { balance, capLeft, reserved } = shared.inventory;
  const rooms = [
    balance - reserved,
    capLeft - reserved,
    ...listRooms(shared).map(({ room }) => room),
  ];
  const room = rooms.reduce((least, one) => (one < least ? one : least));
  return room > 0n ? room : 0n;
}

function tooLate(): OperatingError {
  return new OperatingError(
    "INTERNAL",
    "The delivery was not paid in time and its lock was returned.",
    {
      details: { reason: "returned" },
    },
  );
}
