import { createEvmChain } from "../../src/chains/evm/evm-chain.ts";
import type { Chain } from "../../src/chains/port/index.ts";
import { toEvmAddress } from "../../src/core/hex.ts";
import { type ChainMembers, createStrictChain } from "./doubles.ts";

const addressOf = (byte: string) => toEvmAddress(`0x${byte.repeat(20)}`);

/** Addresses of our contracts on every encoding chain. */
export const CONTRACTS = {
  factory: addressOf("fa"),
  escrow: addressOf("e5"),
  delivery: addressOf("de"),
};

/**
 * Creates a chain that derives and encodes like an EVM chain and has no node: a read throws unless a test gives the
 * answer.
 */
export function createEncodingChain(chainId: number, answers: ChainMembers = {}): Chain {
  const evm = createEvmChain({
    chainId,
    evmChainId: chainId,
    rpcUrl: "http://127.0.0.1:1",
    contracts: CONTRACTS,
    timeoutMs: 1,
  });
  return createStrictChain({
    chainId,
    addresses: evm.addresses,
    predictWallet: evm.predictWallet,
    hashCommitment: evm.hashCommitment,
    buildSettle: evm.buildSettle,
    encodeLockData: evm.encodeLockData,
    encodeTransferData: evm.encodeTransferData,
    encodeSwapData: evm.pools.encodeSwapData,
    deliveryIdOf: evm.deliveryIdOf,
    ...answers,
  });
}
