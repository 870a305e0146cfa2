/**
 * The gate: whether a balance is worth settling. It looks at the live balance, not at one transfer, so that small
 * deposits which together clear the minimum settle.
 */
export type GateResult =
  | { readonly kind: "pass" }
  | { readonly kind: "ignore"; readonly reason: "below_token_min" | "below_min" };

/**
 * Compares a balance with the token's minimum, both in base units and to the unit. A balance of zero never passes: it
 * is below the token's minimum where one is set, and below the chain's floor otherwise.
 */
export function gateBalance(balance: bigint, minDeposit: bigint | undefined): GateResult {
  if (minDeposit !== undefined && balance < minDeposit) {
    return { kind: "ignore", reason: "below_token_min" };
  }
  if (balance <= 0n)
    return { kind: "ignore", reason: minDeposit === undefined ? "below_min" : "below_token_min" };
  return { kind: "pass" };
}
