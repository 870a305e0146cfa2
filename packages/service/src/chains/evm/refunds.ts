/** Reads refunds from the factory's events. */
import { toEventSelector } from "viem";
import { type EvmAddress, padAddress } from "../../core/hex.ts";
import type { FoundRefund } from "../port/index.ts";
import { decodeOfFactory } from "./effects.ts";
import { searchBackwards } from "./log-search.ts";
import type { Rpc } from "./rpc.ts";

const REFUNDED = toEventSelector("Refunded(address,address,address,uint256)");

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
