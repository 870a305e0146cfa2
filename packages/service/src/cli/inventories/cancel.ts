import { cancelMove } from "../../rebalancing/index.ts";
import { systemClock } from "../../roles/system-ports.ts";
import type { Call, Result } from "../command.ts";
import { UsageError } from "../failure.ts";
import { nameOperator } from "../operator.ts";
import { withDatabase } from "../with-database.ts";

/** Cancels a move that was asked for and that the settler has not planned. */
export async function run(call: Call, { move: id }: { readonly move: string }): Promise<Result> {
  const by = { id, operator: nameOperator(), nowMs: systemClock.now() };
  const cancelled = await withDatabase(call.readConfig({ roles: [] }), ({ db }) =>
    cancelMove(db, by),
  );
  if (!cancelled) throw new UsageError("MOVE: expected a move that was asked for and not planned.");
  return { json: { move: id, cancelled }, text: `move ${id} is cancelled` };
}
