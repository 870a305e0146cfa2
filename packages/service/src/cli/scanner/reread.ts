/** `sluice scanner reread`: orders the scanner to read final blocks again. */
import { OperatingError } from "../../core/errors.ts";
import { orderReread } from "../../scanner/index.ts";
import type { Call, Result } from "../command.ts";
import { nameOperator } from "../operator.ts";
import { withDatabase } from "../with-database.ts";
import { expectChain } from "./expect-chain.ts";

/** Records the order. The scanner reads 2,000 blocks per request, as soon as they are final. */
export async function run(
  call: Call,
  given: {
    readonly chain: number;
    readonly from: bigint;
    readonly to: bigint;
    readonly reason: string;
  },
): Promise<Result> {
  const config = call.readConfig({ roles: [] });
  const chainId = expectChain(config, given.chain);
  const { from, to: through, reason } = given;
  if (through < from) {
    throw new OperatingError("VALIDATION_ERROR", `--to ${through}: expected at least ${from}.`);
  }
  await withDatabase(config, ({ db }) =>
    orderReread(db, { chainId, from, through, reason, operator: nameOperator() }),
  );
  return {
    json: { chainId, from, to: through },
    text: `The scanner of chain ${chainId} reads blocks ${from} to ${through} again.`,
  };
}
