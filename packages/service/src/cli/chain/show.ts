import { readChainStates } from "../../addresses/index.ts";
import type { Call, Result } from "../command.ts";
import { withDatabase } from "../with-database.ts";
import { formatLeft, showLeft } from "./left.ts";

/** Shows the state of a chain, and the work and balances left there. */
export async function run(
  call: Call,
  { chain: chainId }: { readonly chain: number },
): Promise<Result> {
  return withDatabase(call.readConfig({ roles: [] }), async ({ db }) => {
    const state = (await readChainStates(db)).get(chainId) ?? "open";
    const left = await showLeft(db, chainId);
    return {
      json: { chainId, state, left },
      text: `chain ${chainId} is ${state}\n${formatLeft(left)}`,
    };
  });
}
