/** Keeps the settlements of an integrator on a chain below its quota. */
import type { Tx } from "../../db/schema.ts";
import { lockStamps } from "../../events/index.ts";
import { readSettlementQuota } from "../../integrators/index.ts";
import { chainLabel } from "../../telemetry/metrics.ts";
import type { IntakeDeps } from "../deps.ts";
import { countOpen } from "../store/read.ts";

/** Returns how many settlements the quota leaves room for; holds the lock as `findUsedUpQuota` does. */
export async function countQuotaLeft(
  tx: Tx,
  deps: Pick<IntakeDeps, "quotas">,
  owner: { readonly integratorId: string; readonly chainId: number },
): Promise<number> {
  const { limit, open } = await countOpenOf(tx, deps, owner);
  return Math.max(0, limit - open);
}

async function countOpenOf(
  tx: Tx,
  { quotas }: Pick<IntakeDeps, "quotas">,
  owner: { readonly integratorId: string; readonly chainId: number },
) {
  await lockStamps(tx, owner.integratorId);
  const limit = await readSettlementQuota(tx, owner.integratorId, quotas);
  return { limit, open: await countOpen(tx, owner, limit) };
}

/**
 * Returns the quota that another settlement would exceed, or null. Holds the integrator's lock of stamps until the end of
 * the transaction, as the insert does, so that concurrent ones cannot exceed it together.
 */
export async function findUsedUpQuota(
  tx: Tx,
  deps: Pick<IntakeDeps, "quotas" | "log" | "metrics">,
  owner: { readonly integratorId: string; readonly chainId: number },
): Promise<number | null> {
  const { limit, open } = await countOpenOf(tx, deps, owner);
  if (open < limit) return null;
  deps.log.warn({ ...owner, limit }, "quota of settlements used up");
  deps.metrics.quotaRefusals.inc({ chain: chainLabel(owner.chainId) });
  return limit;
}
