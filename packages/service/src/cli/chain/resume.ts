import { setDraining } from "../../addresses/index.ts";
import type { Call, Result } from "../command.ts";
import { nameOperator, parseReason } from "../operator.ts";
import { withDatabase } from "../with-database.ts";

/** Ends the draining of a chain. */
export async function run(
  call: Call,
  { chain: chainId, reason }: { readonly chain: number; readonly reason: string },
): Promise<Result> {
  const record = { chainId, reason: parseReason(reason), operator: nameOperator() };
  const changed = await withDatabase(call.readConfig({ roles: [] }), ({ db }) =>
    setDraining(db, false, record),
  );
  const text = `chain ${chainId} ${changed ? "is open again" : "is not draining"}`;
  return { json: { chainId, changed }, text };
}
