import { OperatingError } from "../core/errors.ts";
import { countOrphaned, findOutflowKind } from "../deposits/index.ts";
import { readScannedTip } from "../ledger/index.ts";
import { chainOf, type SettlementDeps } from "./deps.ts";
import { giveUp } from "./fail.ts";
import { getError } from "./store/read.ts";
import type { Settlement } from "./types.ts";

/** Polls in a row that must find the wallet empty: nodes behind a load balancer may disagree for some time. */
const EMPTY_POLLS_MIN = 4;

/**
 * Defers or ends the settlement of an empty wallet. While the deposits' blocks are not final the deposits may reappear,
 * and a node may lag, so the settlement is deferred. Afterwards it ends: with REORG when all deposits are orphaned,
 * otherwise as settled by somebody else or refunded where an outflow says so, or as emptied by the token itself where the
 * scanned final blocks have none.
 * @throws OperatingError REORG or INSUFFICIENT_BALANCE while the settlement is deferred.
 */
export async function recordEmpty(deps: SettlementDeps, settlement: Settlement): Promise<"wait"> {
  const { all, orphaned, highest } = await countOrphaned(deps.db, settlement.id);
  const emptyPolls = (await countEmptyPolls(deps, settlement)) + 1;
  const finalNumber = await chainOf(deps, settlement).getFinalNumber();
  const mayEnd = highest <= finalNumber && emptyPolls >= EMPTY_POLLS_MIN;
  if (all > 0 && all === orphaned) {
    const message = "A reorg orphaned the deposits of this settlement.";
    return endOrDefer(deps, settlement, {
      error: new OperatingError("REORG", message, { details: { emptyPolls } }),
      ends: mayEnd,
    });
  }
  const reason =
    all === 0 ? "wallet_empty" : await findReason(deps, settlement, { highest, finalNumber });
  return endOrDefer(deps, settlement, {
    error: new OperatingError("INSUFFICIENT_BALANCE", "The deposit address is empty.", {
      details: { reason: reason ?? "wallet_empty", emptyPolls },
    }),
    ends: mayEnd && reason !== null,
  });
}

async function endOrDefer(
  deps: SettlementDeps,
  settlement: Settlement,
  { error, ends }: { readonly error: OperatingError; readonly ends: boolean },
): Promise<"wait"> {
  if (!ends) throw error;
  await giveUp(deps, settlement, error);
  return "wait";
}

/** Returns how many of the last polls found the wallet empty; a wait for another cause restarts the count. */
async function countEmptyPolls({ db }: SettlementDeps, { id }: Settlement): Promise<number> {
  const polls = (await getError(db, id))?.details?.["emptyPolls"];
  return typeof polls === "number" ? polls : 0;
}

/**
 * Returns why deposits of a final block are gone: by the newest outflow since then or, if the scanner has recorded all final
 * blocks and a final block shows the wallet empty, without one. Null while that is not known.
 */
async function findReason(
  deps: SettlementDeps,
  settlement: Settlement,
  { highest, finalNumber }: { readonly highest: bigint; readonly finalNumber: bigint },
): Promise<string | null> {
  const { chainId, token, wallet } = settlement;
  const kind = await findOutflowKind(deps.db, settlement, highest);
  if (kind !== null) return kind === "unattended" ? "settled_unattended" : "refunded";
  const balance = await chainOf(deps, settlement).getBalance(token, wallet, "final");
  if (balance !== 0n || (await readScannedTip(deps.db, chainId)) < finalNumber) return null;
  return "balance_gone";
}
