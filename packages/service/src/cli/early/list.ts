import { describeEarly } from "../../routes/index.ts";
import type { Call, Result } from "../command.ts";
import { withDatabase } from "../with-database.ts";

/** Shows what the early payouts of each chain risk, and the locks that are missing. */
export async function run(call: Call): Promise<Result> {
  const config = call.readConfig({ roles: [] });
  const chains = await withDatabase(config, ({ db }) => describeEarly(db, config));
  const lines = chains.flatMap(({ chain, usableUsd, countedUsd, payouts, closed, missing }) => [
    `${chain}: ${payouts} payouts before finality worth $${countedUsd} of $${usableUsd}, ${closed ? `closed since ${closed.at}: ${closed.reason}` : "open"}`,
    ...missing.map(
      ({ deliveryId, settlementId, worthUsd, since }) =>
        `  missing lock ${deliveryId} of settlement ${settlementId}, worth $${worthUsd}, since ${since}`,
    ),
  ]);
  return {
    json: { chains },
    text: lines.join("\n") || "no chain has earlyPayouts: every lock is final before it is paid",
  };
}
