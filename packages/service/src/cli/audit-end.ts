import { OperatingError } from "../core/errors.ts";
import { endBreach } from "../ledger/index.ts";
import { REPAIRS } from "../roles/repairs.ts";
import { systemClock } from "../roles/system-ports.ts";
import type { Call, Result } from "./command.ts";
import { nameOperator } from "./operator.ts";
import { withDatabase } from "./with-database.ts";

/** Closes a breach. Throws VALIDATION_ERROR if no open breach has that number. */
export async function run(
  call: Call,
  { breach: id, reason }: { readonly breach: string; readonly reason: string },
): Promise<Result> {
  await withDatabase(call.readConfig({ roles: [] }), async ({ db }) => {
    const end = { id, reason, operator: nameOperator() };
    const isOpen =
      /^\d{1,18}$/.test(id) && (await endBreach({ db, clock: systemClock, ...REPAIRS }, end));
    if (!isOpen) throw new OperatingError("VALIDATION_ERROR", `There is no open breach ${id}.`);
  });
  return { json: { ended: id }, text: null };
}
