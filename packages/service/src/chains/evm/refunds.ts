/** Reads refunds, and other outflows of a wallet, from the factory's events. */
import { depositFactoryAbi } from "@sluice/contracts/abi";
import { getAbiItem, toEventSelector } from "viem";
import { type EvmAddress, padAddress } from "../../core/hex.ts";
import type { FoundRefund } from "../port/index.ts";
import { decodeOfFactory } from "./effects.ts";
import { searchBackwards } from "./log-search.ts";
import type { Rpc } from "./rpc.ts";

/** Every event of a balance that left a wallet. */
const OUTFLOWS = (["Settled", "SettledUnattended", "Refunded"] as const).map((name) =>
  toEventSelector(getAbiItem({ abi: depositFactoryAbi, name })),
);
const REFUNDED = toEventSelector(getAbiItem({ abi: depositFactoryAbi, name: "Refunded" }));

/**
 * Returns the newest refund of a wallet and token in a final block from `fromBlock` on, or null. Throws RPC_UNAVAILABLE if
 * the search is incomplete.
 */
export async function findRefund(
  rpc: Rpc,
  factory: EvmAddress,
  args: {
    readonly wallet: EvmAddress;
    readonly token: EvmAddress;
    readonly fromBlock: bigint;
    readonly newest: bigint;
  },
): Promise<FoundRefund | null> {
  const { wallet, token, fromBlock, newest } = args;
  const found = await searchBackwards(rpc, {
    address: factory,
    topics: [REFUNDED, padAddress(wallet), padAddress(token)],
    newest,
    oldest: fromBlock,
    read(log) {
      const effect = decodeOfFactory(log);
      if (effect?.kind !== "refunded") return null;
      if (effect.wallet !== wallet || effect.token !== token) return null;
      const { to, amount } = effect;
      const { txHash, blockNumber, logIndex } = log;
      return { to, amount, txHash, blockNumber, logIndex };
    },
  });
  if (found === "unfinished") throw rpc.unavailable("search for a refund not finished");
  return found;
}

/**
 * Returns the block of the newest sweep or refund of a wallet and token from `fromBlock` to `newest`, or null. Throws
 * RPC_UNAVAILABLE if the search is incomplete.
 */
export async function findOutflow(
  rpc: Rpc,
  factory: EvmAddress,
  args: {
    readonly wallet: EvmAddress;
    readonly token: EvmAddress;
    readonly fromBlock: bigint;
    readonly newest: bigint;
  },
): Promise<bigint | null> {
  const { wallet, token, fromBlock, newest } = args;
  const found = await searchBackwards(rpc, {
    address: factory,
    topics: [null, padAddress(wallet), padAddress(token)],
    newest,
    oldest: fromBlock,
    read: ({ address, topics: [topic], blockNumber }) =>
      address === factory && OUTFLOWS.some((known) => known === topic) ? blockNumber : null,
  });
  if (found === "unfinished") throw rpc.unavailable("search for an outflow not finished");
  return found;
}
