import { closeEarly } from "../../routes/index.ts";
import type { Call, Result } from "../command.ts";
import { nameOperator, parseReason } from "../operator.ts";
import { withDatabase } from "../with-database.ts";

/** Closes the early payouts of a chain: its locks are final before they are paid. */
export async function run(
  call: Call,
  { chain: srcChain, reason }: { readonly chain: number; readonly reason: string },
): Promise<Result> {
  const closure = { srcChain, operator: nameOperator(), reason: parseReason(reason) };
  const changed = await withDatabase(call.readConfig({ roles: [] }), ({ db }) =>
    closeEarly(db, closure),
  );
  const text = `the early payouts of chain ${srcChain} are ${changed ? "closed" : "closed already"}`;
  return { json: { chainId: srcChain, changed }, text };
}
