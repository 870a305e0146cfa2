/** `sluice scanner skip`: orders the scanner to move over a block that no node answers for. */
import { orderSkip } from "../../scanner/index.ts";
import type { Call, Result } from "../command.ts";
import { nameOperator } from "../operator.ts";
import { withDatabase } from "../with-database.ts";
import { expectChain } from "./expect-chain.ts";

/** Records the order. The scanner takes it in its next poll. */
export async function run(
  call: Call,
  given: { readonly chain: number; readonly block: bigint; readonly reason: string },
): Promise<Result> {
  const config = call.readConfig({ roles: [] });
  const chainId = expectChain(config, given.chain);
  const { block, reason } = given;
  await withDatabase(config, ({ db }) =>
    orderSkip(db, { chainId, block, reason, operator: nameOperator() }),
  );
  return {
    json: { chainId, skipped: block },
    text:
      `The scanner of chain ${chainId} skips block ${block}. Once a node answers for it, run ` +
      `\`sluice scanner reread --chain ${chainId} --from ${block} --to ${block}\`.`,
  };
}
