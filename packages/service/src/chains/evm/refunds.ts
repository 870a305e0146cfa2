/** Reads refunds, and other outflows of a wallet, from the factory's events. */
import { depositFactoryAbi } from "@sluice/contracts/abi";
import { getAbiItem, toEventSelector } from "viem";
import { type EvmAddress, type Hex, padAddress } from "../../core/hex.ts";
import type { FoundRefund } from "../port/index.ts";
import { decodeOfFactory } from "./effects.ts";
import { type LogSearch, searchBackwards } from "./log-search.ts";
import type { Rpc } from "./rpc.ts";

/** Every event of a balance that left a wallet. */
const OUTFLOWS = (["Settled", "SettledUnattended", "Refunded"] as const).map((name) =>
  toEventSelector(getAbiItem({ abi: depositFactoryAbi, name })),
);
const REFUNDED = toEventSelector(getAbiItem({ abi: depositFactoryAbi, name: "Refunded" }));

/** A wallet's token, and the blocks to search. */
interface OutflowSearch {
  readonly wallet: EvmAddress;
  readonly token: EvmAddress;
  readonly fromBlock: bigint;
  readonly newest: bigint;
}

/**
 * Returns the newest refund of a wallet and token in a final block from `fromBlock` on, or null. Throws RPC_UNAVAILABLE if
 * the search is incomplete.
 */
export async function findRefund(
  rpc: Rpc,
  factory: EvmAddress,
  args: OutflowSearch,
): Promise<FoundRefund | null> {
  return findNewest(rpc, factory, args, {
    topic: REFUNDED,
    read(log) {
      const effect = decodeOfFactory(log);
      if (effect?.kind !== "refunded") return null;
      if (effect.wallet !== args.wallet || effect.token !== args.token) return null;
      const { to, amount } = effect;
      const { txHash, blockNumber, logIndex } = log;
      return { to, amount, txHash, blockNumber, logIndex };
    },
  });
}

/**
 * Returns the block of the newest sweep or refund of a wallet and token from `fromBlock` to `newest`, or null. Throws
 * RPC_UNAVAILABLE if the search is incomplete.
 */
export async function findOutflow(
  rpc: Rpc,
  factory: EvmAddress,
  args: OutflowSearch,
): Promise<bigint | null> {
  return findNewest(rpc, factory, args, {
    topic: null,
    read: ({ address, topics: [topic], blockNumber }) =>
      address === factory && OUTFLOWS.some((known) => known === topic) ? blockNumber : null,
  });
}

/** Returns the newest matching event of a wallet and token, or null. Throws RPC_UNAVAILABLE if the search is incomplete. */
async function findNewest<Found>(
  rpc: Rpc,
  factory: EvmAddress,
  { wallet, token, fromBlock, newest }: OutflowSearch,
  { topic, read }: { readonly topic: Hex | null; readonly read: LogSearch<Found>["read"] },
): Promise<Found | null> {
  const topics = [topic, padAddress(wallet), padAddress(token)];
  const found = await searchBackwards(rpc, {
    address: factory,
    topics,
    newest,
    oldest: fromBlock,
    read,
  });
  if (found === "unfinished") throw rpc.unavailable("search for an outflow not finished");
  return found;
}
