/** Reading an EVM chain through one node. */
import { encodeFunctionData } from "viem";
import { erc20Abi } from "@sluice/contracts/abi";
import { type EvmAddress, NATIVE_TOKEN } from "../../core/hex.ts";
import type { BlockRef, ChainReader } from "../port.ts";
import {
  type BlockAnswer,
  parseBlock,
  parseBytes,
  parseQuantity,
  parseUintWord,
} from "./answers.ts";
import { findInView, readView, tagOf, toQuantity } from "./calls.ts";
import { listNativeBalances, listNativeTransfers } from "./native.ts";
import { readPriceFeed } from "./price-feeds.ts";
import type { Rpc } from "./rpc.ts";
import { listTokenBalances } from "./token-balances.ts";
import { createTraceReader } from "./traces.ts";
import { listTransfers } from "./transfers.ts";

/** The chain's reads over a node; `checkIdentity` is in identity.ts. All throw RPC_UNAVAILABLE without a usable answer. */
export function createReader(rpc: Rpc): Omit<ChainReader, "checkIdentity"> {
  return {
    chainId: rpc.chainId,
    getHead: async () => toRef(await getTaggedBlock(rpc, "latest")),
    getFinalNumber: async () => (await getTaggedBlock(rpc, tagOf("final"))).number,

    getFinalTime: async () => (await getTaggedBlock(rpc, tagOf("final"))).timestamp,

    async getBlock(number) {
      const block = await rpc.ask("eth_getBlockByNumber", [toQuantity(number), false], parseBlock);
      if (block === null) return null;
      if (block.number !== number) throw rpc.unavailable("another block");
      return toRef(block);
    },

    listTransfers: (block, tokens) => listTransfers(rpc, block, tokens),
    listNativeTransfers: (block, choose) => listNativeTransfers(rpc, block, choose),
    listTracedPayees: createTraceReader(rpc),
    listNativeBalances: (block, owners) => listNativeBalances(rpc, block, owners),
    listTokenBalances: (blockHash, holdings) => listTokenBalances(rpc, blockHash, holdings),
    getBalance: (token, owner) =>
      token === NATIVE_TOKEN ? getNativeBalance(rpc, owner) : getTokenBalance(rpc, token, owner),
    findBalance: (token, owner) =>
      token === NATIVE_TOKEN ? getNativeBalance(rpc, owner) : findTokenBalance(rpc, token, owner),
    readPriceFeed: (feed) => readPriceFeed(rpc, feed),
    hasCode: (address) => hasCode(rpc, address),
  };
}

/** The newest block under a tag. Throws RPC_UNAVAILABLE when the node has none, as before its first final block. */
export async function getTaggedBlock(rpc: Rpc, tag: "latest" | "finalized"): Promise<BlockAnswer> {
  const block = await rpc.ask("eth_getBlockByNumber", [tag, false], parseBlock);
  if (block === null) throw rpc.unavailable(`no ${tag} block`);
  return block;
}

/** Wei of an account in the newest block. */
export function getNativeBalance(rpc: Rpc, owner: EvmAddress): Promise<bigint> {
  return rpc.ask("eth_getBalance", [owner, "latest"], parseQuantity);
}

/** Whether there is code at an address in the newest block. */
export async function hasCode(rpc: Rpc, address: EvmAddress): Promise<boolean> {
  return (await rpc.ask("eth_getCode", [address, "latest"], parseBytes)) !== "0x";
}

async function findTokenBalance(
  rpc: Rpc,
  token: EvmAddress,
  owner: EvmAddress,
): Promise<bigint | null> {
  const data = encodeFunctionData({ abi: erc20Abi, functionName: "balanceOf", args: [owner] });
  return findInView(rpc, { to: token, data, at: "latest" }, parseUintWord);
}

function getTokenBalance(rpc: Rpc, token: EvmAddress, owner: EvmAddress): Promise<bigint> {
  const data = encodeFunctionData({ abi: erc20Abi, functionName: "balanceOf", args: [owner] });
  return readView(rpc, { to: token, data, at: "latest" }, parseUintWord);
}

function toRef({ number, hash, parentHash }: BlockAnswer): BlockRef {
  return { number, hash, parentHash };
}
