/** Cost and speed of a bridge transfer. Pure. */
import { BPS } from "../../core/amounts.ts";
import { OperatingError } from "../../core/errors.ts";
import { type BridgeFees, SHARE_SCALE } from "./bridge-attestations.ts";
import { FINALITY } from "./message.ts";

/** Margin on the bridge's minimum fee, in basis points: the minimum may rise between plan and burn. */
const MARGIN_BPS = 2_000n;

/** Circle's figures in seconds after the burn: a standard transfer waits about 15 minutes until the source block is final. */
export const FAST_SECONDS = 60;
const STANDARD_SECONDS = 1_200;

/** Returns the seconds until a burn with this finality threshold is minted. */
export function etaOf(minFinalityThreshold: number): number {
  return minFinalityThreshold < FINALITY.STANDARD ? FAST_SECONDS : STANDARD_SECONDS;
}

/** Fees and allowance as the bridge states them. */
export interface BridgeTerms {
  readonly fees: BridgeFees;
  /** Base units that all users together may still send fast. */
  readonly allowance: bigint;
}

/**
 * Returns the maximum bridge fee for a sweep of `amount`: the fast fee if it is at most `room` and the allowance suffices,
 * otherwise the standard fee.
 */
export function maxFeeOf(amount: bigint, room: bigint, { fees, allowance }: BridgeTerms): bigint {
  const fast = fees.fast === null ? 0n : withMargin(shareOf(amount, fees.fast));
  if (fees.fast !== null && fast <= room && amount <= allowance) return fast;
  return fees.standard === null ? fast : withMargin(shareOf(amount, fees.standard));
}

/** Terms of a burn. */
export interface Speed {
  /** Fee that the bridge would keep now, in base units. */
  readonly expectedFee: bigint;
  readonly minFinalityThreshold: number;
}

/**
 * Chooses the finality threshold of a burn whose bridge fee is at most `maxFee`: fast if fee and allowance permit.
 * @throws OperatingError AMOUNT_TOO_SMALL if the fee would consume the burn, FEE_NOT_COVERED if the bridge now requires more
 *   than planned.
 */
export function chooseSpeed(
  burned: bigint,
  maxFee: bigint,
  { fees, allowance }: BridgeTerms,
): Speed {
  // The token messenger requires the fee to be below the amount.
  if (burned <= maxFee) {
    throw new OperatingError(
      "AMOUNT_TOO_SMALL",
      "The amount does not exceed the maximum bridge fee.",
      {
        details: { burned: burned.toString(), maxFee: maxFee.toString() },
      },
    );
  }
  const fast = fees.fast === null ? null : shareOf(burned, fees.fast);
  if (fast !== null && fast <= maxFee && burned <= allowance) {
    return { expectedFee: fast, minFinalityThreshold: FINALITY.FAST };
  }
  const standard = fees.standard === null ? null : shareOf(burned, fees.standard);
  if (standard !== null && standard <= maxFee) {
    return { expectedFee: standard, minFinalityThreshold: FINALITY.STANDARD };
  }
  throw new OperatingError("FEE_NOT_COVERED", "The bridge fee exceeds the planned maximum.", {
    details: { needed: String(standard ?? fast ?? "unknown"), maxFee: maxFee.toString() },
  });
}

/**
 * Checks a burn against the bridge's limit per message. Above it the burn would revert; the deposit is swept in parts.
 * @throws OperatingError NO_ROUTE with reason `burn_limit`.
 */
export function assertBurnable(burned: bigint, limit: bigint): void {
  if (burned <= limit) return;
  throw new OperatingError("NO_ROUTE", "The bridge takes less than this amount in one message.", {
    details: { reason: "burn_limit", burned: burned.toString(), limit: limit.toString() },
  });
}

/** Rounds up, as the bridge does for its minimum. */
function shareOf(amount: bigint, share: bigint): bigint {
  return (amount * share + SHARE_SCALE - 1n) / SHARE_SCALE;
}

function withMargin(fee: bigint): bigint {
  return (fee * (BPS + MARGIN_BPS) + BPS - 1n) / BPS;
}
