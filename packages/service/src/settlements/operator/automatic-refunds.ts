/**
 * Refunds that nobody requests: of balances that stay in their deposit address, once the policy of their refund authority
 * says so. Off without the setting. The recheck of deposits and the poll of dead settlements ask here; the refund itself
 * is requested as by anybody else, with the same checks and the same attestors.
 *
 * Invariant: nothing is refunded by itself that is worth less than the policy's multiple of its gas, so that dust of
 * strangers costs the operator nothing.
 */
import { type DepositAddress, getAddressById } from "../../addresses/index.ts";
import { type AutomaticRefunds, refundPolicyOf } from "../../config/index.ts";
import { OperatingError } from "../../core/errors.ts";
import { unpadAddress } from "../../core/hex.ts";
import type { Db } from "../../db/schema.ts";
import { findOldestLeft, type Holding } from "../../deposits/index.ts";
import { REFUND_AGAIN_MS } from "../../jobs/delays.ts";
import { chainOf, type SettlementDeps } from "../deps.ts";
import { SETTLEMENT_CONDITIONS } from "../store/deposits.ts";
import { getActive } from "../store/read.ts";
import { readDeployed } from "../wallet-state.ts";
import { refundAddress } from "./refund-address.ts";

/** The `operator` of refunds by policy; accounts of people have another form. */
export const BY_POLICY = "policy:";

/**
 * Requests the refund of a holding if its policy wants it now. Returns the time at which it is worth asking again, in
 * milliseconds, or null if the policy says nothing about it.
 * @throws OperatingError as `refundAddress` does, except where nothing may be refunded.
 */
export async function refundByPolicy(
  deps: SettlementDeps,
  holding: Holding,
  addressId: string,
): Promise<number | null> {
  const address = await getAddressById(deps.db, addressId);
  const automatic = automaticOf(deps, address);
  if (automatic === null) return null;
  const sinceMs = await findOldestLeft(deps.db, SETTLEMENT_CONDITIONS, holding);
  if (sinceMs === null) return null;
  const dueMs = Math.max(
    sinceMs + automatic.afterMs,
    ((await findLastAsked(deps.db, holding)) ?? -Infinity) + REFUND_AGAIN_MS,
  );
  if (deps.clock.now() < dueMs) return dueMs;
  if (await getActive(deps.db, holding)) return null;
  if (!(await isWorthGas(deps, { holding, automatic }))) return null;
  const { chainId, wallet, token } = holding;
  const to = unpadAddress(address.commitment.refundAuthority, address.family);
  const by = { to, operator: BY_POLICY, reason: "by policy", needsReason: true } as const;
  try {
    const { refund, changed } = await refundAddress(deps, { chainId, wallet, token, ...by });
    if (changed) deps.log.info({ refund: refund.id, chainId, wallet, token }, "refund by policy");
  } catch (error) {
    if (!(error instanceof OperatingError) || error.code !== "VALIDATION_ERROR") throw error;
    deps.log.debug({ err: error, chainId, wallet, token }, "no refund by policy");
  }
  return null;
}

function automaticOf(
  { attestedRefunds }: SettlementDeps,
  { commitment }: DepositAddress,
): AutomaticRefunds | null {
  if (!attestedRefunds) return null;
  return refundPolicyOf(attestedRefunds.policies, commitment.refundAuthority).automatic;
}

/** Returns when the last refund by policy was requested; null before the first. */
async function findLastAsked(db: Db, { chainId, wallet, token }: Holding): Promise<number | null> {
  const row = await db
    .selectFrom("address_refunds")
    .select("at")
    .where("chain_id", "=", chainId)
    .where("wallet", "=", wallet)
    .where("token", "=", token)
    .where("operator", "=", BY_POLICY)
    .orderBy("number", "desc")
    .limit(1)
    .executeTakeFirst();
  return row ? Date.parse(row.at) : null;
}

/** Returns whether the balance in a final block is worth its refund; false where that cannot be priced. */
async function isWorthGas(
  deps: SettlementDeps,
  { holding, automatic }: { readonly holding: Holding; readonly automatic: AutomaticRefunds },
): Promise<boolean> {
  const { chainId, wallet, token } = holding;
  const chain = chainOf(deps, holding);
  const balance = (await chain.findBalance(token, wallet, "final")) ?? 0n;
  if (balance === 0n) return false;
  const deploys = (await readDeployed(chain, wallet)) === false;
  const cost = (await deps.attestedRefunds?.readCost({ chainId, token, deploys })) ?? null;
  return cost !== null && balance >= cost * automatic.timesGas;
}
