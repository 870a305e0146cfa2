/**
 * Fee terms of a settlement, in base units of the source token: the service's fee as a share, gas as a flat amount, and
 * the most that a bridge may keep. Terms are fixed and stored when the sweep is planned, so that later price or
 * configuration changes do not affect it.
 */
import type { RouteFee } from "../chains/port/index.ts";
import { BPS, feeOf } from "../core/amounts.ts";
import { OperatingError } from "../core/errors.ts";

/** The terms of one sweep. The route's contract takes `bps` of the swept amount, plus `flat`. */
export interface FeeTerms extends RouteFee {
  /** Gas, in base units; zero where the operator pays it. */
  readonly flat: bigint;
  /** The most that a bridge may keep of its input, in base units. */
  readonly bridge: bigint;
}

/** Fees of an amount, by part, in base units of the source token. */
export interface FeeItems {
  readonly service: bigint;
  readonly gas: bigint;
  readonly bridge: bigint;
}

/** Upper bound of every cap, so that a remainder is left of every amount. */
const CAP_BPS_MAX = 9_999;

/** Returns the most that all fees together may take, in whole basis points. */
const capBpsOf = (maxFeeBps: number) => Math.min(maxFeeBps, CAP_BPS_MAX);

/** Returns the most that all fees together may take of an amount, in its base units. */
export function feeCapOf(amount: bigint, maxFeeBps: number): bigint {
  return feeOf(amount, capBpsOf(maxFeeBps));
}

/**
 * Returns the least that is left of a deposit where the route's contract takes the fees itself, in base units of the
 * source token. Must equal `RouteFeeLib.cap` of the contracts.
 */
export function leastAfterFees(amount: bigint, maxFeeBps: number): bigint {
  const cap = feeOf(amount, maxFeeBps);
  // At least one base unit stays, even under a cap of 100 %.
  return cap < amount || amount === 0n ? amount - cap : 1n;
}

/**
 * Returns the terms of a sweep of `amount`. Gas and bridge come first: the service's fee shrinks, down to zero, until the
 * total fits the committed cap. Terms that fit an amount also fit every larger one, so that later arrivals cannot fail
 * the sweep.
 * @throws OperatingError AMOUNT_TOO_SMALL when gas and bridge take the whole amount, FEE_NOT_COVERED when they exceed
 *   the cap.
 */
export function planTerms(args: {
  readonly amount: bigint;
  readonly maxFeeBps: number;
  /** The service's fee, as far as the cap leaves room. */
  readonly serviceBps: number;
  readonly gas: bigint;
  readonly bridge: bigint;
}): FeeTerms {
  const { amount, maxFeeBps, serviceBps, gas, bridge } = args;
  const needed = gas + bridge;
  if (needed > 0n && needed >= amount) throw tooSmall(amount, needed);
  const cap = feeCapOf(amount, maxFeeBps);
  if (needed > cap) throw notCovered({ needed, cap });
  // Rounds the share up, not the amount: only then do the terms also fit every larger amount.
  const taken = amount === 0n ? 0 : Number((needed * BPS + amount - 1n) / amount);
  const room = Math.max(0, capBpsOf(maxFeeBps) - taken);
  return { bps: Math.min(serviceBps, room), flat: gas, bridge };
}

/**
 * Returns the fees that the terms take of a swept amount. If the amount is smaller than planned, the parts shrink to its
 * cap: the bridge is paid first, then gas, then the service.
 */
export function itemise(amount: bigint, terms: FeeTerms, maxFeeBps: number): FeeItems {
  const cap = feeCapOf(amount, maxFeeBps);
  const bridge = min(terms.bridge, cap);
  const gas = min(terms.flat, cap - bridge);
  const service = min(feeOf(amount, terms.bps), cap - bridge - gas);
  return { service, gas, bridge };
}

const min = (one: bigint, other: bigint) => (one < other ? one : other);

function tooSmall(amount: bigint, needed: bigint): OperatingError {
  return new OperatingError("AMOUNT_TOO_SMALL", "Settling costs as much as there is.", {
    details: { reason: TOO_SMALL_FOR_FEES, amount: amount.toString(), needed: needed.toString() },
  });
}

function notCovered({ needed, cap }: { readonly needed: bigint; readonly cap: bigint }) {
  return new OperatingError(
    "FEE_NOT_COVERED",
    "Gas and bridge cost more at present than the fee cap of the address allows.",
    { details: { needed: needed.toString(), cap: cap.toString() } },
  );
}

/** `details.reason` of an AMOUNT_TOO_SMALL that passes when gas gets cheaper. */
export const TOO_SMALL_FOR_FEES = "fees";
