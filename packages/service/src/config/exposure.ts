/** How the exposure of early payouts is divided among the attestors. */
import type { EvmAddress } from "../core/hex.ts";

/**
 * Returns the number of parts. A payout needs `threshold` signatures. A thief who has all of these keys but one still needs the
 * signature of another attestor, and each of the others counts only its own part; so the parts of all others together are the
 * exposure. Without a list of attestors there is one.
 */
export function partsOfExposure({
  threshold,
  accounts,
  cold,
}: {
  readonly threshold: number;
  readonly accounts: readonly EvmAddress[];
  readonly cold: readonly EvmAddress[];
}): bigint {
  const running = new Set(accounts.filter((account) => !cold.includes(account)));
  return BigInt(Math.max(1, running.size - threshold + 1));
}
