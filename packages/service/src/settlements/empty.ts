import { OperatingError } from "../core/errors.ts";
import { countOrphaned } from "../deposits/index.ts";
import { chainOf, type SettlementDeps } from "./deps.ts";
import { giveUp } from "./fail.ts";
import type { Settlement } from "./types.ts";

/** Polls that must find the wallet empty: nodes behind a load balancer may disagree for some time. */
const EMPTY_POLLS_MIN = 3;

/**
 * Defers or ends the settlement of an empty wallet. While the deposits' blocks are not final the deposits may reappear,
 * and a node may lag, so the settlement is deferred. Afterwards it ends: with REORG when all deposits are orphaned,
 * otherwise as refunded, the only other way out of a wallet.
 * @throws OperatingError REORG or INSUFFICIENT_BALANCE while the settlement is deferred.
 */
export async function recordEmpty(deps: SettlementDeps, settlement: Settlement): Promise<"wait"> {
  const { all, orphaned, highest } = await countOrphaned(deps.db, settlement.id);
  const gone = all > 0 && all === orphaned;
  const error = gone
    ? new OperatingError("REORG", "A reorg orphaned the deposits of this settlement.")
    : new OperatingError("INSUFFICIENT_BALANCE", "The deposit address is empty.", {
        details: { reason: all > 0 ? "refunded" : "wallet_empty" },
      });
  const isFinal = highest <= (await chainOf(deps, settlement).getFinalNumber());
  if (isFinal && settlement.retryCount >= EMPTY_POLLS_MIN) {
    await giveUp(deps, settlement, error);
    return "wait";
  }
  throw error;
}
