/** An EVM chain behind the chain port: one node and the service's three contracts. */
import { toEvmAddress } from "../../core/hex.ts";
import type { CctpContracts } from "../port/index.ts";
import type { WitnessedNode } from "../witnessed.ts";
import type { NodeTraffic } from "../rpc/traffic.ts";
import { createCctp } from "./cctp.ts";
import { createContracts, createWallets, type EvmContracts } from "./contracts.ts";
import { createIdentityCheck } from "./identity.ts";
import { createPaymentSimulation } from "./payments.ts";
import { readPriceFeed } from "./price-feeds.ts";
import { createBalances, createReader } from "./reader.ts";
import { encodeSwapData } from "./route-data.ts";
import { createRpc } from "./rpc.ts";
import { createNonceSequencing, createSender } from "./sender.ts";
import { quoteSwap, readSwapLimits } from "./swaps.ts";
import { createTreasury } from "./treasury.ts";
import { createWitnessReader } from "./witness.ts";

export interface EvmChainOptions {
  /** Bridge chain id. */
  readonly chainId: number;
  /** EIP-155 chain id that the node must serve. */
  readonly evmChainId: number;
  /** May carry credentials; never displayed. */
  readonly rpcUrl: string;
  readonly contracts: EvmContracts;
  /** Circle's contracts, if the chain has them. */
  readonly cctp?: CctpContracts | undefined;
  /** Per request, including the body. */
  readonly timeoutMs: number;
  /** The limits of the node; none by default. */
  readonly traffic?: NodeTraffic | undefined;
  /** No delivery is older than this block; default 0. */
  readonly deployBlock?: bigint;
}

/** Returns the chain over its node, without sending a request: `checkIdentity` verifies the node. */
export function createEvmChain(options: EvmChainOptions): WitnessedNode {
  const { evmChainId, contracts: addresses, cctp, deployBlock = 0n } = options;
  const rpc = createRpc(options);
  const sender = createSender(rpc, { ...addresses, transmitter: cctp?.transmitter });
  const { getReceipt } = sender;
  return {
    ...createReader(rpc, { contracts: addresses, evmChainId }),
    ...sender,
    ...createContracts(rpc, addresses, { deployBlock, getReceipt }),
    sequencing: createNonceSequencing(rpc),
    balances: createBalances(rpc),
    wallets: createWallets(rpc, addresses),
    priceFeeds: {
      readPriceFeed: (feed, at = "latest") => readPriceFeed(rpc, toEvmAddress(feed), at),
    },
    pools: {
      quoteSwap: (swap, at = "latest") => quoteSwap(rpc, swap, at),
      readSwapLimits: (swap, at = "latest") => readSwapLimits(rpc, swap, at),
      encodeSwapData,
    },
    cctp: cctp ? createCctp(rpc, cctp, deployBlock) : null,
    treasury: addresses.treasury === undefined ? null : createTreasury(rpc, addresses.treasury),
    ...createWitnessReader(rpc),
    simulatePayment: createPaymentSimulation(rpc, { delivery: addresses.delivery, cctp }),
    checkIdentity: createIdentityCheck(rpc, { evmChainId, addresses }),
  };
}
