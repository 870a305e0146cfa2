/**
 * The gate: whether a balance is worth settling. It looks at the live balance, not at one transfer, so that small
 * deposits which together clear the minimum settle.
 */

export type GateResult =
  | { readonly kind: "pass" }
  | { readonly kind: "ignore"; readonly reason: "below_token_min" | "below_min" };

/** What a balance must reach, in base units; undefined where nothing is asked. */
export interface Minimums {
  /** The token's own minimum. */
  readonly token: bigint | undefined;
  /** What the chain's floor in US dollars comes to at the present price; `unpriced` while there is none. */
  readonly floor: bigint | "unpriced" | undefined;
}

/**
 * Compares a balance with the minimums, all in base units and to the unit: the token's first, then the chain's floor. A
 * balance that cannot be priced now passes: its settlement waits for the price. A balance of zero never passes: it is
 * below the token's minimum where one is set, and below the chain's floor otherwise.
 */
export function gateBalance(balance: bigint, { token, floor }: Minimums): GateResult {
  if (token !== undefined && balance < token) return { kind: "ignore", reason: "below_token_min" };
  if (balance <= 0n) {
    return { kind: "ignore", reason: token === undefined ? "below_min" : "below_token_min" };
  }
  if (typeof floor === "bigint" && balance < floor) return { kind: "ignore", reason: "below_min" };
  return { kind: "pass" };
}

/** The least balance whose value reaches a floor. Floor and price are US dollars times 1e18, the price of a whole unit. */
export function floorAmount(args: {
  readonly floorUsd: bigint;
  readonly priceUsd: bigint;
  readonly decimals: number;
}): bigint {
  const { floorUsd, priceUsd, decimals } = args;
  return (floorUsd * 10n ** BigInt(decimals) + priceUsd - 1n) / priceUsd;
}
