/**
 * What a settlement costs the deposit, in base units of the source token: the service's own fee, a share; gas, a sum;
 * and what a bridge may keep. Terms are fixed when a sweep is planned and stored with it, so that nothing that changes
 * later changes them.
 */
import type { RouteFee } from "../chains/port/index.ts";
import { BPS, feeOf } from "../core/amounts.ts";
import { OperatingError } from "../core/errors.ts";

/** The terms of one sweep. The contract of its route takes `bps` of what is really swept, and `flat`. */
export interface FeeTerms extends RouteFee {
  /** Gas, in base units; zero where the operator pays it. */
  readonly flat: bigint;
  /** The most that a bridge may keep of what it is given, in base units. */
  readonly bridge: bigint;
}

/** What terms come to of an amount, part by part, in base units of the source token. */
export interface FeeItems {
  readonly service: bigint;
  readonly gas: bigint;
  readonly bridge: bigint;
}

/** However large the cap: something is left of every amount. */
const CAP_BPS_MAX = 9_999;

/** The most that all fees together may take, in whole basis points. */
const capBpsOf = (maxFeeBps: number) => Math.min(maxFeeBps, CAP_BPS_MAX);

/** The most that all fees together may take of an amount, in its base units. */
export function feeCapOf(amount: bigint, maxFeeBps: number): bigint {
  return feeOf(amount, capBpsOf(maxFeeBps));
}

/**
 * The least that is left of a deposit where the route's contract takes the fees itself, in base units of the source
 * token; `RouteFeeLib.cap` leaves the same.
 */
export function leastAfterFees(amount: bigint, maxFeeBps: number): bigint {
  const cap = feeOf(amount, maxFeeBps);
  // However large the cap, a unit stays.
  return cap < amount || amount === 0n ? amount - cap : 1n;
}

/**
 * The terms of a sweep of `amount`. What others are paid comes first: the service's own fee shrinks, down to nothing,
 * until the whole fits the committed cap. Terms that fit an amount fit every larger one, so that what somebody adds on
 * the way cannot make the sweep fail.
 * @throws OperatingError AMOUNT_TOO_SMALL when gas and bridge take all of it, FEE_NOT_COVERED when they are above the cap.
 */
export function planTerms(args: {
  readonly amount: bigint;
  readonly maxFeeBps: number;
  /** The service's fee where there is room for it. */
  readonly serviceBps: number;
  readonly gas: bigint;
  readonly bridge: bigint;
}): FeeTerms {
  const { amount, maxFeeBps, serviceBps, gas, bridge } = args;
  const needed = gas + bridge;
  if (needed > 0n && needed >= amount) throw tooSmall(amount, needed);
  const cap = feeCapOf(amount, maxFeeBps);
  if (needed > cap) throw notCovered({ needed, cap });
  // In exact shares, not in rounded amounts: only so does what fits here fit every larger amount.
  const taken = amount === 0n ? 0 : Number((needed * BPS + amount - 1n) / amount);
  const room = Math.max(0, capBpsOf(maxFeeBps) - taken);
  return { bps: Math.min(serviceBps, room), flat: gas, bridge };
}

/**
 * What terms come to of what was swept. They were planned for no more than that; should less have been there, the parts
 * shrink to the cap of that, and what others are paid comes first.
 */
export function itemise(amount: bigint, terms: FeeTerms, maxFeeBps: number): FeeItems {
  const cap = feeCapOf(amount, maxFeeBps);
  const bridge = least(terms.bridge, cap);
  const gas = least(terms.flat, cap - bridge);
  const service = least(feeOf(amount, terms.bps), cap - bridge - gas);
  return { service, gas, bridge };
}

const least = (one: bigint, other: bigint) => (one < other ? one : other);

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

/** The reason of an AMOUNT_TOO_SMALL that ends when gas falls. */
export const TOO_SMALL_FOR_FEES = "fees";
