import { setDraining } from "../../addresses/index.ts";
import type { Call, Result } from "../command.ts";
import { nameOperator, parseReason } from "../operator.ts";
import { withDatabase } from "../with-database.ts";
import { formatLeft, showLeft } from "./left.ts";

/** Stops new quotes and addresses from and toward a chain, and shows the work and balances left there. */
export async function run(
  call: Call,
  { chain: chainId, reason }: { readonly chain: number; readonly reason: string },
): Promise<Result> {
  const record = { chainId, reason: parseReason(reason), operator: nameOperator() };
  return withDatabase(call.readConfig({ roles: [] }), async ({ db }) => {
    const changed = await setDraining(db, true, record);
    const left = await showLeft(db, chainId);
    const text = `chain ${chainId} is ${changed ? "draining" : "draining already"}\n${formatLeft(left)}`;
    return { json: { chainId, changed, left }, text };
  });
}
