import { systemClock } from "../../roles/system-ports.ts";
import { endPause } from "../../settlements/index.ts";
import type { Call, Result } from "../command.ts";
import { nameOperator, parseReason } from "../operator.ts";
import { withDatabase } from "../with-database.ts";
import { nameTarget, readTarget, type TargetInput } from "./target.ts";

/** Ends a pause; the settlements that it deferred go on within seconds. */
export async function run(
  call: Call,
  { reason, ...input }: TargetInput & { readonly reason: string },
): Promise<Result> {
  const record = {
    operator: nameOperator(),
    reason: parseReason(reason),
    nowMs: systemClock.now(),
  };
  const changed = await withDatabase(call.readConfig({ roles: [] }), async ({ db }) =>
    endPause(db, await readTarget(db, input), record),
  );
  const text = `${nameTarget(input)} ${changed ? "goes on" : "is not paused"}`;
  return { json: { ...input, changed }, text };
}
