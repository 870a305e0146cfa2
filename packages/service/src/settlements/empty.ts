import { OperatingError } from "../core/errors.ts";
import { countOrphaned, wasSettledUnattended } from "../deposits/index.ts";
import { chainOf, type SettlementDeps } from "./deps.ts";
import { giveUp } from "./fail.ts";
import { getError } from "./store/read.ts";
import type { Settlement } from "./types.ts";

/** Polls in a row that must find the wallet empty: nodes behind a load balancer may disagree for some time. */
const EMPTY_POLLS_MIN = 4;

/**
 * Defers or ends the settlement of an empty wallet. While the deposits' blocks are not final the deposits may reappear,
 * and a node may lag, so the settlement is deferred. Afterwards it ends: with REORG when all deposits are orphaned,
 * otherwise as settled by somebody else where an outflow says so, or as refunded, the only other way out of a wallet.
 * @throws OperatingError REORG or INSUFFICIENT_BALANCE while the settlement is deferred.
 */
export async function recordEmpty(deps: SettlementDeps, settlement: Settlement): Promise<"wait"> {
  const { all, orphaned, highest } = await countOrphaned(deps.db, settlement.id);
  const emptyPolls = (await countEmptyPolls(deps, settlement)) + 1;
  const gone = all > 0 && all === orphaned;
  const error = gone
    ? new OperatingError("REORG", "A reorg orphaned the deposits of this settlement.", {
        details: { emptyPolls },
      })
    : new OperatingError("INSUFFICIENT_BALANCE", "The deposit address is empty.", {
        details: { reason: await findReason(deps, settlement, { all, highest }), emptyPolls },
      });
  const isFinal = highest <= (await chainOf(deps, settlement).getFinalNumber());
  if (isFinal && emptyPolls >= EMPTY_POLLS_MIN) {
    await giveUp(deps, settlement, error);
    return "wait";
  }
  throw error;
}

/** Returns how many of the last polls found the wallet empty; a wait for another cause restarts the count. */
async function countEmptyPolls({ db }: SettlementDeps, { id }: Settlement): Promise<number> {
  const polls = (await getError(db, id))?.details?.["emptyPolls"];
  return typeof polls === "number" ? polls : 0;
}

async function findReason(
  { db }: SettlementDeps,
  settlement: Settlement,
  { all, highest }: { readonly all: number; readonly highest: bigint },
): Promise<string> {
  if (all === 0) return "wallet_empty";
  return (await wasSettledUnattended(db, settlement, highest)) ? "settled_unattended" : "refunded";
}
