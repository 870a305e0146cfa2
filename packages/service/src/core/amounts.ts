/**
 * Amounts are bigint in a token's base units; for people they are decimal strings of whole tokens. No code computes with an
 * amount in floating point.
 */

/**
 * Parses a plain decimal such as `"1.25"` to base units, exactly.
 * @throws RangeError for other forms and for more decimals than the token has.
 */
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
 * Parses a number as programs print it, also with an exponent, rounded to the nearest base unit. Only for amounts of clients
 * that passed through floating point; amounts that move money use `parseUnits`.
 * @throws RangeError for other forms.
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

/** Formats an amount in base units as the shortest plain decimal, such as `"1.25"`. */
export function formatUnits(amount: bigint, decimals: number): string {
  const sign = amount < 0n ? "-" : "";
  const digits = (amount < 0n ? -amount : amount).toString().padStart(decimals + 1, "0");
  const whole = digits.slice(0, digits.length - decimals);
  const fraction = digits.slice(digits.length - decimals).replace(/0+$/, "");
  return `${sign}${whole}${fraction ? `.${fraction}` : ""}`;
}

/** Basis points of the whole. */
export const BPS = 10_000n;

/** Converts an amount from `from` to `to` decimals, rounding down. */
export function rescale(amount: bigint, from: number, to: number): bigint {
  return (amount * 10n ** BigInt(to)) / 10n ** BigInt(from);
}

/**
 * Returns the minimum that a same-asset settlement must deliver, in destination base units, rounded up, so that no fee exceeds
 * the cap: `amount x (10000 - maxFeeBps) x 10^to / (10000 x 10^from)`; but never more than the amount itself, rounded down to
 * the units of the destination. Equal to the computation of the contracts.
 */
export function minOutOf(args: {
  readonly amount: bigint;
  readonly maxFeeBps: number;
  readonly decimalsIn: number;
  readonly decimalsOut: number;
}): bigint {
  const { amount, maxFeeBps, decimalsIn, decimalsOut } = args;
  const scaled = amount * 10n ** BigInt(decimalsOut);
  const unit = 10n ** BigInt(decimalsIn);
  const kept = divideUp(scaled * (BPS - BigInt(maxFeeBps)), BPS * unit);
  const worth = scaled / unit;
  return kept < worth ? kept : worth;
}

/** Returns a fee of `feeBps` basis points of an amount, in the same base units, rounded down. */
export function feeOf(amount: bigint, feeBps: number): bigint {
  return (amount * BigInt(feeBps)) / BPS;
}

/** Scale of rates, which are whole destination tokens per whole source token. */
export const RATE_SCALE = 10n ** 18n;

/** Converts an amount at a rate to destination base units, rounded down. */
export function convert(args: {
  readonly amount: bigint;
  readonly rate: bigint;
  readonly decimalsIn: number;
  readonly decimalsOut: number;
}): bigint {
  const { amount, rate, decimalsIn, decimalsOut } = args;
  return (amount * rate * 10n ** BigInt(decimalsOut)) / (RATE_SCALE * 10n ** BigInt(decimalsIn));
}

/** The caps of a commitment, in basis points. */
export interface Caps {
  readonly maxFeeBps: number;
  readonly maxSlippageBps: number;
}

/** Returns the minimum that a priced settlement must deliver of a fair amount, rounded up. Equal to the contracts. */
export function minOutOfFair(fair: bigint, { maxFeeBps, maxSlippageBps }: Caps): bigint {
  const given = BigInt(maxFeeBps) + BigInt(maxSlippageBps);
  return given >= BPS ? 0n : divideUp(fair * (BPS - given), BPS);
}

/**
 * Returns the largest fair amount whose minimum is at most `minOut`: the value of a lock at its pricing. Returns zero for
 * caps of 100 % and more, under which every minimum is zero.
 */
export function fairOfMinOut(minOut: bigint, { maxFeeBps, maxSlippageBps }: Caps): bigint {
  const kept = BPS - BigInt(maxFeeBps) - BigInt(maxSlippageBps);
  return kept <= 0n ? 0n : (minOut * BPS) / kept;
}

function divideUp(dividend: bigint, divisor: bigint): bigint {
  return (dividend + divisor - 1n) / divisor;
}
