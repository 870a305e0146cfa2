import { systemRandom } from "../../roles/system-ports.ts";
import { startPause } from "../../settlements/index.ts";
import type { Call, Result } from "../command.ts";
import { nameOperator, parseReason } from "../operator.ts";
import { withDatabase } from "../with-database.ts";
import { nameTarget, readTarget, type TargetInput } from "./target.ts";

/** Pauses new sweeps of an integrator, a chain, a token or a kind of route. */
export async function run(
  call: Call,
  { reason, ...input }: TargetInput & { readonly reason: string },
): Promise<Result> {
  const record = { reason: parseReason(reason), operator: nameOperator() };
  const changed = await withDatabase(call.readConfig({ roles: [] }), async ({ db }) =>
    startPause({ db, random: systemRandom }, await readTarget(db, input), record),
  );
  const text = `${nameTarget(input)} is ${changed ? "paused" : "already paused"}`;
  return { json: { ...input, changed }, text };
}
