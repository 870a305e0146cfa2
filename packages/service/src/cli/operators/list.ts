import { type ListedOperator, listOperators } from "../../operators/index.ts";
import type { Call, Result } from "../command.ts";
import { withDatabase } from "../with-database.ts";

/** Lists the operators of the console. */
export async function run(call: Call): Promise<Result> {
  const operators = await withDatabase(call.readConfig({ roles: [] }), ({ db }) =>
    listOperators(db),
  );
  return { json: { operators }, text: operators.map(format).join("\n") };
}

function format({ name, role, disabledAt, passkeys, openSessions }: ListedOperator): string {
  const state = disabledAt === null ? role : `disabled ${disabledAt}`;
  return `${name}  ${state}  ${passkeys} passkey(s)  ${openSessions} open session(s)`;
}
