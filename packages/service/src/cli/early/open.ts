import { systemClock } from "../../roles/system-ports.ts";
import { openEarly } from "../../routes/index.ts";
import type { Call, Result } from "../command.ts";
import { nameOperator, parseReason } from "../operator.ts";
import { withDatabase } from "../with-database.ts";

/** Opens the early payouts of a chain again. Attestors keep theirs closed while a lock that they signed for is missing. */
export async function run(
  call: Call,
  { chain: chainId, reason }: { readonly chain: number; readonly reason: string },
): Promise<Result> {
  const act = {
    operator: nameOperator(),
    reason: parseReason(reason),
    nowMs: systemClock.now(),
  };
  const changed = await withDatabase(call.readConfig({ roles: [] }), ({ db }) =>
    openEarly(db, chainId, act),
  );
  const text = `the early payouts of chain ${chainId} are ${changed ? "open" : "not closed"}`;
  return { json: { chainId, changed }, text };
}
