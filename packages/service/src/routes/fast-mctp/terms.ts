/** What a transfer by the bridge costs, and whether it can go fast. Pure. */
import { BPS, feeOf } from "../../core/amounts.ts";
import { OperatingError } from "../../core/errors.ts";
import { type BridgeFees, SHARE_SCALE } from "./attestations.ts";
import { FINALITY } from "./message.ts";

/** The minimum may rise between the quote and the burn: this much is allowed for, of the minimum itself. */
const MARGIN_BPS = 2_000n;

export interface Terms {
  /** Kept by the route, in source base units. */
  readonly fee: bigint;
  /** What is burned: the rest. */
  readonly burned: bigint;
  /** The most that the bridge may keep of it. */
  readonly maxFee: bigint;
  /** What the bridge is going to keep as things stand. */
  readonly expectedFee: bigint;
  readonly minFinalityThreshold: number;
}

/**
 * The terms of a transfer: fast where that fits under the committed cap and the allowance, standard otherwise.
 * Throws FEE_NOT_COVERED where not even that fits, AMOUNT_TOO_SMALL where nothing is left to burn.
 */
export function chooseTerms(args: {
  readonly amount: bigint;
  readonly feeBps: number;
  readonly maxFeeBps: number;
  readonly fees: BridgeFees;
  /** What may still be sent fast, by everybody. */
  readonly allowance: bigint;
}): Terms {
  const { amount, maxFeeBps, fees, allowance } = args;
  const fee = feeOf(amount, Math.min(args.feeBps, maxFeeBps));
  const burned = amount - fee;
  // As the route computes it: something is left over under any cap.
  const share = (amount * BigInt(maxFeeBps)) / BPS;
  const cap = share < amount ? share : amount - 1n;
  if (amount <= 1n || burned <= 0n) {
    throw new OperatingError("AMOUNT_TOO_SMALL", "The amount is too small for the bridge.", {
      details: { amount: amount.toString() },
    });
  }
  const offer = (minimum: bigint | null, minFinalityThreshold: number): Terms | null => {
    if (minimum === null) return null;
    const expectedFee = shareOf(burned, minimum);
    const maxFee = withMargin(expectedFee);
    // The messenger wants something to be left of what is burned.
    if (fee + maxFee > cap || maxFee >= burned) return null;
    return { fee, burned, maxFee, expectedFee, minFinalityThreshold };
  };
  const fast = burned <= allowance ? offer(fees.fast, FINALITY.FAST) : null;
  const terms = fast ?? offer(fees.standard, FINALITY.STANDARD);
  if (terms) return terms;
  throw new OperatingError("FEE_NOT_COVERED", "The bridge's fee is above the fee cap.", {
    details: { amount: amount.toString(), maxFeeBps },
  });
}

/** Rounded up, as a minimum is. */
function shareOf(amount: bigint, share: bigint): bigint {
  return (amount * share + SHARE_SCALE - 1n) / SHARE_SCALE;
}

function withMargin(fee: bigint): bigint {
  return (fee * (BPS + MARGIN_BPS) + BPS - 1n) / BPS;
}
