/**
 * The signer's memory of early payouts. Invariant: those of a source chain that are counted are worth at most its exposure,
 * at the moment of each signature; a payout is counted until it is covered or its loss is accepted in the configuration.
 */
import type { Hex32 } from "../core/hex.ts";
import type { CountedPayout } from "./port.ts";
import { SignerWaits } from "./refusal.ts";

/** The bounds of the early payouts for locks of one chain. */
export interface EarlyBounds {
  /** US dollars times 1e18. */
  readonly exposure: bigint;
  readonly acceptedLosses: readonly Hex32[];
}

export interface EarlyMemory {
  /** Lists the payouts that are counted, the oldest first. */
  list(boundsOf: (srcChain: number) => EarlyBounds): readonly CountedPayout[];
  /** Throws `SignerWaits` if the payout would exceed the exposure of its chain together with those that are counted. */
  check(
    payout: Pick<CountedPayout, "srcChain" | "deliveryId" | "worth">,
    boundsOf: (srcChain: number) => EarlyBounds,
  ): void;
  /** Counts a payout. One that is signed again counts once, at its highest value, until its latest deadline. */
  remember(payout: CountedPayout): void;
  /** Returns whether the payout was counted. */
  forget(deliveryId: Hex32): boolean;
  has(deliveryId: Hex32): boolean;
}

/** Creates an empty memory. */
export function createEarlyMemory(): EarlyMemory {
  const counted = new Map<Hex32, CountedPayout>();
  const memory: EarlyMemory = {
    list: (boundsOf) =>
      [...counted.values()].filter(
        ({ srcChain, deliveryId }) => !boundsOf(srcChain).acceptedLosses.includes(deliveryId),
      ),
    check({ srcChain, deliveryId, worth }, boundsOf) {
      const { exposure } = boundsOf(srcChain);
      const sum = memory
        .list(boundsOf)
        .filter((other) => other.srcChain === srcChain && other.deliveryId !== deliveryId)
        .reduce((total, other) => total + other.worth, worth);
      if (sum > exposure) {
        throw new SignerWaits(`early payouts worth ${sum}, above the exposure of ${exposure}`);
      }
    },
    remember(payout) {
      const before = counted.get(payout.deliveryId);
      const { worth, deadline } = payout;
      counted.set(payout.deliveryId, {
        ...payout,
        worth: before && before.worth > worth ? before.worth : worth,
        deadline: before && before.deadline > deadline ? before.deadline : deadline,
        signedAtMs: before?.signedAtMs ?? payout.signedAtMs,
      });
    },
    forget: (deliveryId) => counted.delete(deliveryId),
    has: (deliveryId) => counted.has(deliveryId),
  };
  return memory;
}
