/**
 * Gas price caps. A claim that is not made in time loses the whole delivery to the refund authority, so its cap rises above
 * the lane's. Calls that wait below the market make way for it: an unsigned one gives up its nonce, and the nonce of a signed
 * one is taken by a transfer of nothing, which may offer as much as the claim.
 */
import type { Fees } from "../chains/port/index.ts";
import { SignerWaits } from "../signers/refusal.ts";
import { isOutpriced } from "./fees.ts";
import { type LaneDeps, laneOf } from "./lane-deps.ts";
import { stepAside } from "./step-aside.ts";
import { listAssigned, readMembers, recordCancelled } from "./store.ts";
import { type Attempt, kindOf, type LaneTransaction } from "./types.ts";

/** Returns the claims that a transaction makes: itself, or the members of a batch; none if it does anything else. */
export async function listClaims(
  { db }: Pick<LaneDeps, "db">,
  transaction: LaneTransaction,
): Promise<readonly LaneTransaction[]> {
  const isBatch = kindOf(transaction.intent) === "batch";
  const calls = isBatch ? await readMembers(db, transaction) : [transaction];
  return calls.every(({ intent }) => kindOf(intent) === "claim") ? calls : [];
}

/** Returns the highest gas price that a transaction may offer now, in the unit of `Fees`. */
export async function readCap(deps: LaneDeps, transaction: LaneTransaction): Promise<bigint> {
  const { gasPriceMax } = deps.limits;
  const caps = takesOnlyItsNonce(transaction)
    ? await readCapsBehind(deps, transaction)
    : [await readOwnCap(deps, transaction)];
  return caps.reduce((most, cap) => (cap > most ? cap : most), gasPriceMax);
}

/** Returns the cap of a claim or a batch of claims, and that of the lane for any other call. */
async function readOwnCap(deps: LaneDeps, transaction: LaneTransaction): Promise<bigint> {
  const { limits, readClaimCap } = deps;
  const claims = readClaimCap ? await listClaims(deps, transaction) : [];
  if (!readClaimCap || claims.length === 0) return limits.gasPriceMax;
  // The mean by gas: a batch costs at most what its members may cost one by one.
  const costs = await Promise.all(
    claims.map(async (claim) => claim.gas * (await readClaimCap(claim, limits.gasPriceMax))),
  );
  const sum = (values: readonly bigint[]) => values.reduce((total, value) => total + value, 0n);
  return sum(costs) / sum(claims.map(({ gas }) => gas));
}

/** Reports whether a transaction is a transfer of nothing, which only uses up its nonce. */
function takesOnlyItsNonce({ intent, cancelled }: LaneTransaction): boolean {
  return cancelled || kindOf(intent) === "fill";
}

/** Returns the caps of the claims that wait behind a transaction in its lane. */
async function readCapsBehind(deps: LaneDeps, { nonce }: LaneTransaction): Promise<bigint[]> {
  const open = await listAssigned(deps.db, laneOf(deps.signer));
  const behind = open.filter((one) => nonce !== null && (one.nonce ?? 0) > nonce);
  const caps: bigint[] = [];
  for (const one of behind.filter((call) => !takesOnlyItsNonce(call))) {
    if ((await listClaims(deps, one)).length > 0) caps.push(await readOwnCap(deps, one));
  }
  return caps;
}

/** Reports whether a claim that may pay the market's price waits behind a call. */
async function delaysClaim(
  deps: LaneDeps,
  transaction: LaneTransaction,
  { gasPriceMax }: Fees,
): Promise<boolean> {
  if (takesOnlyItsNonce(transaction)) return false;
  const caps = await readCapsBehind(deps, transaction);
  return caps.some((cap) => cap >= gasPriceMax);
}

/**
 * Lets an unsigned call that waits for a lower gas price give its nonce to a claim behind it that need not wait. Returns
 * whether it did.
 */
export async function makeWayForClaim(
  deps: LaneDeps,
  transaction: LaneTransaction,
): Promise<boolean> {
  const market = await deps.chain.suggestFees();
  if (market.gasPriceMax <= (await readOwnCap(deps, transaction))) return false;
  if (!(await delaysClaim(deps, transaction, market))) return false;
  await stepAside(deps, transaction, new SignerWaits("gas price above cap, a claim goes first"));
  return true;
}

/**
 * Gives up a signed call that no block takes and that cannot be raised, for its cap or its signer's budget, because a claim
 * behind it need not wait. Either may be mined; if the call loses, its owner plans it again. Returns whether the call was
 * given up.
 */
export async function cancelForClaim(
  deps: LaneDeps,
  transaction: LaneTransaction,
  { newest, market }: { readonly newest: Attempt; readonly market: Fees },
): Promise<boolean> {
  if (!isOutpriced(newest, market) || newest.outcome === "insufficient_funds") return false;
  if (!(await delaysClaim(deps, transaction, market))) return false;
  await recordCancelled(deps.db, transaction.id);
  deps.log.warn(
    { intent: transaction.intent, nonce: transaction.nonce },
    "fees cannot be raised, call given up for a claim",
  );
  return true;
}
