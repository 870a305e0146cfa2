import { expectChange, readStanding } from "../../governance/index.ts";
import { systemClock } from "../../roles/system-ports.ts";
import type { Call, Result } from "../command.ts";
import { nameOperator, parseReason } from "../operator.ts";
import { withDatabase } from "../with-database.ts";
import { findChange } from "./changes.ts";

/** Records that a change of the contracts is expected. */
export async function run(
  call: Call,
  { change, reason }: { readonly change: string; readonly reason: string },
): Promise<Result> {
  const config = call.readConfig({ roles: [] });
  const record = { operator: nameOperator(), reason: parseReason(reason) };
  return withDatabase(config, async ({ db }) => {
    const clock = systemClock;
    const { id } = findChange(await readStanding({ db, config, clock }), change);
    const changed = await expectChange(db, id, { ...record, nowMs: clock.now() });
    const text = changed ? `change ${id} is expected` : `change ${id} was expected already`;
    return { json: { change: `${id}`, changed }, text };
  });
}
