/** Reads an EVM chain through one node. */
import { erc20Abi } from "@sluice/contracts/abi";
import { encodeFunctionData } from "./abi.ts";
import { type Address, type EvmAddress, NATIVE_TOKEN, toEvmAddress } from "../../core/hex.ts";
import type { BalancesAtBlock, BlockRef, ChainReader, ReadPoint } from "../port/index.ts";
import {
  type BlockAnswer,
  parseBlock,
  parseBytes,
  parseQuantity,
  parseUintWord,
} from "./answers.ts";
import { blockParameterOf, findInView, readView, tagOf, toQuantity } from "./calls.ts";
import { createNativeBalanceReader } from "./native.ts";
import type { Rpc } from "./rpc.ts";
import type { LogFilterOptions } from "./log-filter.ts";
import { createSectionReader } from "./sections.ts";
import { createTokenBalanceReader } from "./token-balances.ts";
import { createTraceReader } from "./traces.ts";

/**
 * Returns the chain's reads over a node; `checkIdentity` is in identity.ts. All throw RPC_UNAVAILABLE without a usable
 * answer.
 */
export function createReader(
  rpc: Rpc,
  options: LogFilterOptions,
): Omit<ChainReader, "checkIdentity" | "simulatePayment"> {
  async function getBlock(number: bigint): Promise<BlockRef | null> {
    const block = await findNumberedBlock(rpc, number);
    return block && toRef(block);
  }

  function getBalance(token: Address, owner: Address, at: ReadPoint = "latest") {
    if (token === NATIVE_TOKEN) return getNativeBalance(rpc, toEvmAddress(owner), at);
    return readView(rpc, { ...balanceView(token, owner), at }, parseUintWord);
  }

  return {
    chainId: rpc.chainId,
    kind: "evm",
    coin: { token: NATIVE_TOKEN, decimals: 18 },
    getHead: async () => toRef(await getTaggedBlock(rpc, "latest")),
    getFinalNumber: async () => (await getTaggedBlock(rpc, tagOf("final"))).number,
    getFinalBlock: async () => toRef(await getTaggedBlock(rpc, tagOf("final"))),
    getSafeBlock: async () => toRef(await getTaggedBlock(rpc, "safe")),

    getTime: async (at) => (await getBlockAt(rpc, at)).timestamp,

    getBlock,
    readSection: createSectionReader(rpc, options),
    getBalance,
    readHolding: async (token, owner) => ({ amount: await getBalance(token, owner) }),
    findBalance: (token, owner, at = "latest") =>
      token === NATIVE_TOKEN
        ? getNativeBalance(rpc, toEvmAddress(owner), at)
        : findInView(rpc, { ...balanceView(token, owner), at }, parseUintWord),
    getLeastPayment: async () => 1n,
  };
}

/** Returns reads of balances at a block: EVM nodes keep the state of recent blocks. */
export function createBalances(rpc: Rpc): BalancesAtBlock {
  const readBalances = createNativeBalanceReader(rpc);
  return {
    kind: "at_block",
    listTracedPayees: createTraceReader(rpc),
    listNativeBalances: (block, owners) => readBalances(block, owners.map(toEvmAddress)),
    listTokenBalances: createTokenBalanceReader(rpc),
  };
}

/** Returns the newest block under a tag. Throws RPC_UNAVAILABLE if there is none, as before the first final block. */
export async function getTaggedBlock(
  rpc: Rpc,
  tag: "latest" | "safe" | "finalized",
): Promise<BlockAnswer> {
  const block = await rpc.ask("eth_getBlockByNumber", [tag, false], parseBlock);
  if (block === null) throw rpc.unavailable(`no ${tag} block`);
  return block;
}

/** Returns the block of a height. Throws RPC_UNAVAILABLE if the node does not have it. */
export async function getNumberedBlock(rpc: Rpc, number: bigint): Promise<BlockAnswer> {
  const block = await findNumberedBlock(rpc, number);
  if (block === null) throw rpc.unavailable("block not found");
  return block;
}

async function findNumberedBlock(rpc: Rpc, number: bigint): Promise<BlockAnswer | null> {
  const block = await rpc.ask("eth_getBlockByNumber", [toQuantity(number), false], parseBlock);
  if (block !== null && block.number !== number) throw rpc.unavailable("another block");
  return block;
}

async function getBlockAt(rpc: Rpc, at: ReadPoint): Promise<BlockAnswer> {
  if (typeof at === "string") return getTaggedBlock(rpc, tagOf(at));
  const block = await rpc.ask("eth_getBlockByHash", [at.hash, false], parseBlock);
  if (block === null) throw rpc.unavailable("block not found");
  if (block.hash !== at.hash || block.number !== at.number) throw rpc.unavailable("another block");
  return block;
}

/** Returns the wei of an account. */
export function getNativeBalance(
  rpc: Rpc,
  owner: EvmAddress,
  at: ReadPoint = "latest",
): Promise<bigint> {
  return rpc.ask("eth_getBalance", [owner, blockParameterOf(at)], parseQuantity);
}

/** Returns whether an address has code. */
export async function hasCode(
  rpc: Rpc,
  address: EvmAddress,
  at: ReadPoint = "latest",
): Promise<boolean> {
  return (await rpc.ask("eth_getCode", [address, blockParameterOf(at)], parseBytes)) !== "0x";
}

function balanceView(token: Address, owner: Address) {
  const data = encodeFunctionData({
    abi: erc20Abi,
    functionName: "balanceOf",
    args: [toEvmAddress(owner)],
  });
  return { to: toEvmAddress(token), data, isForeign: true };
}

function toRef({ number, hash, parentHash }: BlockAnswer): BlockRef {
  return { number, hash, parentHash };
}
