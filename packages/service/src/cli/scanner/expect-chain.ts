import type { Config } from "../../config/index.ts";
import { OperatingError } from "../../core/errors.ts";

/** Returns a bridge id. Throws VALIDATION_ERROR unless it is a configured chain whose blocks can be read again. */
export function expectChain({ chains }: Config, chainId: number): number {
  const evm = chains.filter(({ kind }) => kind === "evm").map((chain) => chain.chainId);
  if (evm.includes(chainId)) return chainId;
  throw new OperatingError(
    "VALIDATION_ERROR",
    `--chain ${chainId}: expected an EVM chain of the configuration (${evm.join(", ")}).`,
  );
}
