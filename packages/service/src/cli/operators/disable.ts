import { disableOperator } from "../../operators/index.ts";
import type { Call, Result } from "../command.ts";
import { nameOperator, parseReason } from "../operator.ts";
import { withDatabase } from "../with-database.ts";

/** Disables an operator of the console, and ends the sessions. */
export async function run(
  call: Call,
  { name, reason }: { readonly name: string; readonly reason: string },
): Promise<Result> {
  const record = { name, reason: parseReason(reason), by: nameOperator() };
  const changed = await withDatabase(call.readConfig({ roles: [] }), ({ db }) =>
    disableOperator(db, record),
  );
  return {
    json: { name, changed },
    text: `${name} is ${changed ? "disabled" : "disabled already"}`,
  };
}
