/**
 * The policy of payouts: a lane pays for a lock that the signer has read itself. Settler and attestor may both be in other
 * hands: they cannot make this key pay without a lock, or more than the lock is worth.
 */
import type { Lock, LockFacts } from "../chains/port/index.ts";
import { fairOfMinOut, rescale } from "../core/amounts.ts";
import type { Commitment } from "../core/commitment.ts";
import { type Address, type Hex32, padAddress, type TxHash } from "../core/hex.ts";
import type { Clock } from "../core/ports.ts";
import type { RouteConfig } from "../config/index.ts";
import { SignerRefusal, SignerWaits } from "./refusal.ts";

/**
 * Reads a lock that may be paid, with the signer's readers: at a final block of its chain, or deep enough for an early payout
 * of this amount. Throws RPC_UNAVAILABLE.
 */
export type ReadLock = (
  srcChain: number,
  lock: LockFacts,
  payout: {
    /** Transactions that may have opened the lock: read first, never trusted. */
    readonly hints: readonly TxHash[];
    readonly paid: {
      readonly destChain: number;
      readonly token: Address;
      /** Base units. */
      readonly amount: bigint;
    };
  },
) => Promise<Lock | null>;

/** A payout as the destination takes it. Addresses may be padded to 32 bytes. */
export interface OrderedPayout {
  readonly commitment: Commitment;
  /** The lock whose hash is the delivery id. */
  readonly lock: LockFacts & { readonly srcChain: number; readonly escrow: Address };
  /** Unix seconds from which the payout window counts. */
  readonly windowStart: bigint;
  readonly amount: bigint;
}

/** Throws `SignerRefusal` for a payout that may not be signed, `SignerWaits` for one that may be signed later. */
export type CheckPayout = (payout: OrderedPayout, hints: readonly TxHash[]) => Promise<void>;

/** A pair that is paid from inventory. */
export interface PayoutPair {
  readonly srcChain: number;
  readonly escrow: Hex32;
  /** The locked token, in the form of its chain and padded. */
  readonly token: Address;
  readonly srcToken: Hex32;
  readonly decimalsIn: number;
  readonly destChain: number;
  /** The paid token, padded and in the form of its chain. */
  readonly destToken: Hex32;
  readonly paidToken: Address;
  readonly decimalsOut: number;
  readonly delivery: Hex32;
  /** The tokens are different assets; the lock's minimum states its value. */
  readonly isPriced: boolean;
}

/** Tolerated difference between the destination's clock and ours. */
const CLOCK_SLACK_S = 3_600n;

/** Creates the check of a payout against its lock. */
export function createPayoutPolicy(options: {
  readonly pairs: readonly PayoutPair[];
  readonly readLock: ReadLock;
  readonly payoutWindowS: bigint;
  readonly clock: Clock;
}): CheckPayout {
  const { pairs, readLock, payoutWindowS, clock } = options;
  return async ({ commitment, lock: ordered, windowStart, amount }, hints) => {
    const { srcChain } = ordered;
    const nowS = BigInt(Math.floor(clock.now() / 1000));
    const until = windowStart + payoutWindowS;
    // The contract refuses it. Without a signature its nonce would block the lane.
    if (until < nowS - CLOCK_SLACK_S) return;
    const [escrow, srcToken] = [padAddress(ordered.escrow), padAddress(ordered.token)];
    const pair = pairs.find(
      (known) =>
        known.srcChain === srcChain &&
        known.escrow === escrow &&
        known.srcToken === srcToken &&
        known.destChain === commitment.destChain &&
        known.destToken === commitment.destToken,
    );
    if (!pair) throw new SignerRefusal("payout of a pair that is not configured");
    if (ordered.delivery !== pair.delivery) {
      throw new SignerRefusal("payout of a lock for another destination");
    }
    const paid = { destChain: pair.destChain, token: pair.paidToken, amount };
    const lock = await readLock(srcChain, { ...ordered, token: pair.token }, { hints, paid });
    if (!lock) throw new SignerWaits(`no such lock that may be paid yet on chain ${srcChain}`);
    // A claimed lock is the operator's, and the destination pays it once.
    if (lock.state === "returned" || lock.state === "taken_back") {
      if (until < nowS) throw new SignerWaits(`payout of a ${lock.state} lock just expired`);
      throw new SignerRefusal(`payout of a lock that is ${lock.state}`);
    }
    // A return waits for the end of the window of the lock's own time.
    if (windowStart > lock.lockedAt) {
      throw new SignerRefusal(`payout window from ${windowStart}, lock made at ${lock.lockedAt}`);
    }
    const most = valueOf(pair, lock, commitment);
    if (amount < lock.minOut || amount > most) {
      throw new SignerRefusal(`payout ${amount}, expected ${lock.minOut} to ${most}`);
    }
  };
}

/** Returns the value of a lock in base units of the destination token: the most that may be paid for it. */
export function valueOf(
  pair: Pick<PayoutPair, "decimalsIn" | "decimalsOut" | "isPriced">,
  lock: Pick<Lock, "amount" | "minOut">,
  commitment: Commitment,
): bigint {
  return pair.isPriced
    ? fairOfMinOut(lock.minOut, commitment)
    : rescale(lock.amount, pair.decimalsIn, pair.decimalsOut);
}

/** Lists the configured pairs that are paid from inventory. */
export function listPayoutPairs(options: {
  readonly routes: readonly RouteConfig[];
  readonly decimalsOf: (chainId: number, token: RouteConfig["token"]) => number;
  readonly escrowOf: (chainId: number) => Hex32;
  readonly deliveryOf: (chainId: number) => Hex32;
}): readonly PayoutPair[] {
  const { routes, decimalsOf, escrowOf, deliveryOf } = options;
  return routes
    .filter(({ fromInventory }) => fromInventory)
    .map(({ chainId, token, destChain, destToken, pricedIn }) => ({
      srcChain: chainId,
      escrow: escrowOf(chainId),
      token,
      srcToken: padAddress(token),
      decimalsIn: decimalsOf(chainId, token),
      destChain,
      destToken: padAddress(destToken),
      paidToken: destToken,
      decimalsOut: decimalsOf(destChain, destToken),
      delivery: deliveryOf(destChain),
      isPriced: pricedIn !== null,
    }));
}
