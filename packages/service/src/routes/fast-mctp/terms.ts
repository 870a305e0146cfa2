/** What a transfer by the bridge costs, and whether it can go fast. Pure. */
import { BPS } from "../../core/amounts.ts";
import { OperatingError } from "../../core/errors.ts";
import { type BridgeFees, SHARE_SCALE } from "./bridge-attestations.ts";
import { FINALITY } from "./message.ts";

/** The minimum may rise between the plan and the burn: this much is allowed for, of the minimum itself. */
const MARGIN_BPS = 2_000n;

/** Circle's own figures: seconds after the burn, and about a quarter of an hour where a source has to be final first. */
export const FAST_SECONDS = 60;
const STANDARD_SECONDS = 1_200;

/** How long a burn takes to be minted that waits for this finality. */
export function etaOf(minFinalityThreshold: number): number {
  return minFinalityThreshold < FINALITY.STANDARD ? FAST_SECONDS : STANDARD_SECONDS;
}

/** What the bridge says of itself. */
export interface BridgeTerms {
  readonly fees: BridgeFees;
  /** What may still be sent fast, by everybody, in base units. */
  readonly allowance: bigint;
}

/**
 * The most that the bridge is to keep of a sweep of `amount`: for going fast where that is at most `room` and within
 * the allowance, for the standard way otherwise.
 */
export function maxFeeOf(amount: bigint, room: bigint, { fees, allowance }: BridgeTerms): bigint {
  const fast = fees.fast === null ? 0n : withMargin(shareOf(amount, fees.fast));
  if (fees.fast !== null && fast <= room && amount <= allowance) return fast;
  return fees.standard === null ? fast : withMargin(shareOf(amount, fees.standard));
}

/** How a burn goes. */
export interface Speed {
  /** What the bridge is going to keep as things stand, in base units. */
  readonly expectedFee: bigint;
  readonly minFinalityThreshold: number;
}

/**
 * How a burn of `burned` goes for which the bridge may keep `maxFee`: fast where that and the allowance are enough.
 * @throws OperatingError AMOUNT_TOO_SMALL where nothing would be left of it, FEE_NOT_COVERED where the bridge by now asks
 *   for more than was planned.
 */
export function chooseSpeed(
  burned: bigint,
  maxFee: bigint,
  { fees, allowance }: BridgeTerms,
): Speed {
  // The messenger wants something to be left of what is burned.
  if (burned <= maxFee) {
    throw new OperatingError("AMOUNT_TOO_SMALL", "The amount is too small for the bridge.", {
      details: { burned: burned.toString(), maxFee: maxFee.toString() },
    });
  }
  const fast = fees.fast === null ? null : shareOf(burned, fees.fast);
  if (fast !== null && fast <= maxFee && burned <= allowance) {
    return { expectedFee: fast, minFinalityThreshold: FINALITY.FAST };
  }
  const standard = fees.standard === null ? null : shareOf(burned, fees.standard);
  if (standard !== null && standard <= maxFee) {
    return { expectedFee: standard, minFinalityThreshold: FINALITY.STANDARD };
  }
  throw new OperatingError("FEE_NOT_COVERED", "The bridge asks for more than was planned.", {
    details: { needed: String(standard ?? fast ?? "unknown"), maxFee: maxFee.toString() },
  });
}

/** Rounded up, as a minimum is. */
function shareOf(amount: bigint, share: bigint): bigint {
  return (amount * share + SHARE_SCALE - 1n) / SHARE_SCALE;
}

function withMargin(fee: bigint): bigint {
  return (fee * (BPS + MARGIN_BPS) + BPS - 1n) / BPS;
}
