import { OperatingError } from "../core/errors.ts";
import { countOrphaned } from "../deposits/index.ts";
import { chainOf, type SettlementDeps } from "./deps.ts";
import { giveUp } from "./fail.ts";
import type { Settlement } from "./types.ts";

/** Looks that must find a wallet empty before it is believed: nodes behind one address differ for a while. */
const EMPTY_POLLS_MIN = 3;

/**
 * An empty wallet: its deposits may come back while their blocks are not final, or a node may lag. Once that cannot be,
 * the settlement ends: with REORG when its deposits left the chain, else with a refund, the only other way out.
 */
export async function recordEmpty(deps: SettlementDeps, settlement: Settlement): Promise<"wait"> {
  const { all, orphaned, highest } = await countOrphaned(deps.db, settlement.id);
  const gone = all > 0 && all === orphaned;
  const error = gone
    ? new OperatingError("REORG", "The deposits of this settlement left the chain.")
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
