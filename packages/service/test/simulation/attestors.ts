/**
 * The attestors of a run: three of which two must sign, and in some runs only two at first or from some time on; or one
 * alone, with a cold second that an operator starts after the first is lost for good.
 */
import type { EvmAddress } from "../../src/core/hex.ts";
import { createDice, type Dice } from "./random.ts";
import { ATTESTORS } from "./stage.ts";

export interface AttestorPlan {
  /** Signatures that the contracts demand. */
  readonly threshold: number;
  /** Accounts that the contracts list, sorted. */
  readonly accounts: readonly EvmAddress[];
  /** Listed accounts whose keys wait for the loss of another. */
  readonly cold: readonly EvmAddress[];
  /** One whose signer signs no payouts, while it reads the chains and counts what the others sign. */
  readonly silent: EvmAddress | null;
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
  silent: null,
  shifts: [{ atMs: 0, running: ATTESTORS }],
};

/** Silences one of three attestors in half of the seeds, where all of them run. */
function drawSilent(dice: Dice, plan: AttestorPlan): AttestorPlan {
  if (plan !== ALL_ATTESTORS || !dice.chance(0.5)) return plan;
  return { ...plan, silent: dice.pick(ATTESTORS) };
}

/** Draws the attestors of a seed; with early payouts, one of them may be silent. */
export function drawAttestorsOf(
  seed: number,
  { early, safetyMs }: { readonly early: object | null; readonly safetyMs: number },
): AttestorPlan {
  const plan = drawAttestors(createDice(seed, 35), safetyMs);
  return early ? drawSilent(createDice(seed, 45), plan) : plan;
}

/** Draws the attestors of a seed: one of three is lost in one seed of four, the only one in one of eight. */
function drawAttestors(dice: Dice, safetyMs: number): AttestorPlan {
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
    silent: null,
    shifts: [
      { atMs: 0, running: [hot] },
      { atMs: lostMs, running: [] },
      // At the latest when the faults end; the locks of the gap must be paid or returned all the same.
      { atMs: Math.min(lostMs + dice.between(10_000, 180_000), safetyMs), running: [cold] },
    ],
  };
}
