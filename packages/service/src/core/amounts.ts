/**
 * Amounts are bigint in a token's base units. People read and write decimal strings in whole units; nothing here or
 * anywhere else turns an amount into a floating-point number to compute with it.
 */

/** Base units of a plain decimal such as `"1.25"`; exact, and refuses more digits than the token has. */
export function parseUnits(amountUnits: string, decimals: number): bigint {
  const match = /^(\d{1,78})(?:\.(\d{1,78}))?$/.exec(amountUnits);
  if (!match) throw new RangeError(`expected a plain decimal such as "1.25", got "${amountUnits}"`);
  const [, whole = "0", fraction = ""] = match;
  const significant = fraction.replace(/0+$/, "");
  if (significant.length > decimals) {
    throw new RangeError(`expected at most ${decimals} decimals, got "${amountUnits}"`);
  }
  return BigInt(whole + significant.padEnd(decimals, "0"));
}

/**
 * Base units of a number as programs print it, exponents included, rounded to the nearest: for amounts that went through
 * floating point before they came here. What moves money is read by `parseUnits`.
 */
export function roundUnits(amountUnits: string, decimals: number): bigint {
  const match = /^(\d{1,400})(?:\.(\d{1,400}))?(?:e([+-]?\d{1,3}))?$/i.exec(amountUnits);
  if (!match) throw new RangeError(`expected a number such as "1.25" or "1e-7"`);
  const [, whole = "0", fraction = "", exponent = "0"] = match;
  const digits = BigInt(whole + fraction);
  const shift = decimals - fraction.length + Number(exponent);
  if (shift >= 0) return digits * 10n ** BigInt(shift);
  const divisor = 10n ** BigInt(-shift);
  return (digits + divisor / 2n) / divisor;
}

/** The shortest plain decimal of an amount in base units, such as `"1.25"`. */
export function formatUnits(amount: bigint, decimals: number): string {
  const sign = amount < 0n ? "-" : "";
  const digits = (amount < 0n ? -amount : amount).toString().padStart(decimals + 1, "0");
  const whole = digits.slice(0, digits.length - decimals);
  const fraction = digits.slice(digits.length - decimals).replace(/0+$/, "");
  return `${sign}${whole}${fraction ? `.${fraction}` : ""}`;
}

export const BPS = 10_000n;

/** Moves an amount between two decimal scales, rounding down. */
export function rescale(amount: bigint, from: number, to: number): bigint {
  return (amount * 10n ** BigInt(to)) / 10n ** BigInt(from);
}

/**
 * The least a same-asset settlement may deliver, in destination base units, rounded down:
 * `amount x (10000 - maxFeeBps) x 10^to / (10000 x 10^from)`. The contracts compute the same.
 */
export function minOutOf(args: {
  readonly amount: bigint;
  readonly maxFeeBps: number;
  readonly decimalsIn: number;
  readonly decimalsOut: number;
}): bigint {
  const { amount, maxFeeBps, decimalsIn, decimalsOut } = args;
  return (
    (amount * (BPS - BigInt(maxFeeBps)) * 10n ** BigInt(decimalsOut)) /
    (BPS * 10n ** BigInt(decimalsIn))
  );
}

/** The flat service fee of an amount, rounded down, in the same base units. */
export function feeOf(amount: bigint, feeBps: number): bigint {
  return (amount * BigInt(feeBps)) / BPS;
}

/** Rates are whole destination tokens per whole source token, times this. */
export const RATE_SCALE = 10n ** 18n;

/** What an amount is worth at a rate, in destination base units, rounded down. */
export function convert(args: {
  readonly amount: bigint;
  readonly rate: bigint;
  readonly decimalsIn: number;
  readonly decimalsOut: number;
}): bigint {
  const { amount, rate, decimalsIn, decimalsOut } = args;
  return (amount * rate * 10n ** BigInt(decimalsOut)) / (RATE_SCALE * 10n ** BigInt(decimalsIn));
}

/** The caps a deposit address commits to, in basis points. */
export interface Caps {
  readonly maxFeeBps: number;
  readonly maxSlippageBps: number;
}

/** The least a priced settlement may deliver of a fair amount, rounded down. The contracts compute the same. */
export function minOutOfFair(fair: bigint, { maxFeeBps, maxSlippageBps }: Caps): bigint {
  const given = BigInt(maxFeeBps) + BigInt(maxSlippageBps);
  return given >= BPS ? 0n : (fair * (BPS - given)) / BPS;
}

/**
 * The largest fair amount that promises no more than `minOut`: what a lock was worth when it was priced. Zero under caps
 * that promise nothing of any amount.
 */
export function fairOfMinOut(minOut: bigint, { maxFeeBps, maxSlippageBps }: Caps): bigint {
  const kept = BPS - BigInt(maxFeeBps) - BigInt(maxSlippageBps);
  return kept <= 0n ? 0n : ((minOut + 1n) * BPS - 1n) / kept;
}
