/**
 * The gate: decides whether a balance is worth settling. It compares the live balance, not one transfer, so that small
 * deposits settle once together they reach the minimum.
 */

export type GateResult =
  | { readonly kind: "pass" }
  | { readonly kind: "ignore"; readonly reason: "below_token_min" | "below_min" };

/** Minimum balances, in base units; undefined for no minimum. */
export interface Minimums {
  /** The token's own minimum. */
  readonly token: bigint | undefined;
  /** The chain's floor in US dollars at the current price; `unpriced` while there is no price. */
  readonly floor: bigint | "unpriced" | undefined;
}

/**
 * Compares a balance with the minimums exactly, in base units: the token's minimum first, then the chain's floor. A
 * balance that cannot be priced passes, and its settlement waits for the price. Zero never passes: it is below the
 * token's minimum where one is set, and below the chain's floor otherwise.
 */
export function gateBalance(balance: bigint, { token, floor }: Minimums): GateResult {
  if (token !== undefined && balance < token) return { kind: "ignore", reason: "below_token_min" };
  if (balance <= 0n) {
    return { kind: "ignore", reason: token === undefined ? "below_min" : "below_token_min" };
  }
  if (typeof floor === "bigint" && balance < floor) return { kind: "ignore", reason: "below_min" };
  return { kind: "pass" };
}

/** Returns the smallest balance, in base units, that is worth the floor. Floor and price are US dollars times 1e18. */
export function floorAmount(args: {
  readonly floorUsd: bigint;
  readonly priceUsd: bigint;
  readonly decimals: number;
}): bigint {
  const { floorUsd, priceUsd, decimals } = args;
  return (floorUsd * 10n ** BigInt(decimals) + priceUsd - 1n) / priceUsd;
}
