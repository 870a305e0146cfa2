/**
 * Gas price caps. A claim that is not made in time loses the whole delivery to the refund authority, so its cap rises above
 * the lane's, and calls that wait below the market make way for it.
 */
import { SignerWaits } from "../signers/refusal.ts";
import { type LaneDeps, laneOf } from "./lane-deps.ts";
import { stepAside } from "./step-aside.ts";
import { listByState } from "./store.ts";
import { kindOf, type LaneTransaction } from "./types.ts";

/** Returns the highest gas price that a transaction may offer now, in the unit of `Fees`. */
export async function readCap(
  { limits, readClaimCap }: LaneDeps,
  transaction: LaneTransaction,
): Promise<bigint> {
  if (kindOf(transaction.intent) !== "claim" || !readClaimCap) return limits.gasPriceMax;
  const cap = await readClaimCap(transaction, limits.gasPriceMax);
  return cap > limits.gasPriceMax ? cap : limits.gasPriceMax;
}

/**
 * Lets an unsigned call that waits for a lower gas price give its nonce to a claim behind it that need not wait. Returns
 * whether it did.
 */
export async function makeWayForClaim(
  deps: LaneDeps,
  transaction: LaneTransaction,
): Promise<boolean> {
  const { db, chain, limits, signer } = deps;
  const { nonce, intent } = transaction;
  if (nonce === null || kindOf(intent) === "claim" || kindOf(intent) === "fill") return false;
  if (transaction.cancelled) return false;
  const open = await listByState(db, laneOf(signer), "assigned");
  const claims = open.filter((one) => kindOf(one.intent) === "claim" && (one.nonce ?? 0) > nonce);
  const caps = await Promise.all(claims.map((claim) => readCap(deps, claim)));
  if (!caps.some((cap) => cap > limits.gasPriceMax)) return false;
  const { gasPriceMax } = await chain.suggestFees();
  if (!caps.some((cap) => cap >= gasPriceMax)) return false;
  await stepAside(deps, transaction, new SignerWaits("gas price above cap, a claim goes first"));
  return true;
}
