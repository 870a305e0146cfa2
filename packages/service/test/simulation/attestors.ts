/**
 * The attestors of a run: three of which two must sign, and in some runs only two at first or from some time on; or one
 * alone, with a cold second that an operator starts after the first is lost for good.
 */
import type { EvmAddress } from "../../src/core/hex.ts";
import type { Dice } from "./random.ts";
import { ATTESTORS } from "./stage.ts";

export interface AttestorPlan {
  /** Signatures that the contracts demand. */
  readonly threshold: number;
  /** Accounts that the contracts list, sorted. */
  readonly accounts: readonly EvmAddress[];
  /** Listed accounts whose keys wait for the loss of another. */
  readonly cold: readonly EvmAddress[];
  /** Changes of the running attestors, in order; the first is at the start. */
  readonly shifts: readonly AttestorShift[];
}

interface AttestorShift {
  /** Milliseconds of the run. */
  readonly atMs: number;
  readonly running: readonly EvmAddress[];
}

/** All three run all the time. */
export const ALL_ATTESTORS: AttestorPlan = {
  threshold: 2,
  accounts: ATTESTORS,
  cold: [],
  shifts: [{ atMs: 0, running: ATTESTORS }],
};

/** Draws the attestors of a seed: one of three is lost in one seed of four, the only one in one of eight. */
export function drawAttestors(dice: Dice, safetyMs: number): AttestorPlan {
  const kind = dice.next();
  const [first, second] = ATTESTORS;
  if (kind >= 3 / 8 || !first || !second) return ALL_ATTESTORS;
  const lostMs = dice.chance(0.25) ? 0 : dice.between(0, 0.8 * safetyMs);
  if (kind < 1 / 4) {
    const lost = dice.pick(ATTESTORS);
    const running = ATTESTORS.filter((one) => one !== lost);
    return {
      ...ALL_ATTESTORS,
      shifts: [
        { atMs: 0, running: ATTESTORS },
        { atMs: lostMs, running },
      ],
    };
  }
  const [hot, cold] = dice.chance(0.5) ? [first, second] : [second, first];
  return {
    threshold: 1,
    accounts: [first, second],
    cold: [cold],
    shifts: [
      { atMs: 0, running: [hot] },
      { atMs: lostMs, running: [] },
      // At the latest when the faults end; the locks of the gap must be paid or returned all the same.
      { atMs: Math.min(lostMs + dice.between(10_000, 180_000), safetyMs), running: [cold] },
    ],
  };
}
