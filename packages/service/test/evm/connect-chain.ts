/** An EVM chain over a node whose answers a test sets. */
import { createEvmChain, type EvmChainOptions } from "../../src/chains/evm/evm-chain.ts";
import type { WitnessedNode } from "../../src/chains/witnessed.ts";
import type { EvmAddress } from "../../src/core/hex.ts";

/** Returns the chain of a node, with all contracts at one address unless the options state others. */
export function connectChain(
  { rpcUrl }: { readonly rpcUrl: string },
  contract: EvmAddress,
  options: Partial<EvmChainOptions> = {},
): WitnessedNode {
  return createEvmChain({
    chainId: 2,
    evmChainId: 1,
    rpcUrl,
    contracts: { factory: contract, escrow: contract, delivery: contract },
    timeoutMs: 2_000,
    ...options,
  });
}
