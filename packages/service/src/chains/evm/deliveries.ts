/** Reads payouts of a `Delivery` contract. */
import { decodeFunctionResult, encodeFunctionData, toEventSelector } from "viem";
import { deliveryAbi } from "@sluice/contracts/abi";
import type { EvmAddress, Hex32 } from "../../core/hex.ts";
import type { FoundDelivery, ReadPoint } from "../port/index.ts";
import { parseQuantity } from "./answers.ts";
import { readView } from "./calls.ts";
import { decodeOfDelivery } from "./effects.ts";
import { searchBackwards } from "./log-search.ts";
import type { Rpc } from "./rpc.ts";

const DELIVERED = toEventSelector("Delivered(bytes32,bytes32,address,address,uint256)");

/** Returns whether the contract paid the id. */
export function isDelivered(
  rpc: Rpc,
  delivery: EvmAddress,
  deliveryId: Hex32,
  at: ReadPoint,
): Promise<boolean> {
  const call = { abi: deliveryAbi, functionName: "isDelivered" } as const;
  const data = encodeFunctionData({ ...call, args: [deliveryId] });
  return readView(rpc, { to: delivery, data, at }, (returned) =>
    decodeFunctionResult({ ...call, data: returned }),
  );
}

/** Returns the remainder of a token's daily cap, in base units. */
export function getDailyCapLeft(
  rpc: Rpc,
  delivery: EvmAddress,
  token: EvmAddress,
  at: ReadPoint,
): Promise<bigint> {
  const call = { abi: deliveryAbi, functionName: "capLeft" } as const;
  const data = encodeFunctionData({ ...call, args: [token] });
  return readView(rpc, { to: delivery, data, at }, (returned) =>
    decodeFunctionResult({ ...call, data: returned }),
  );
}

/**
 * Returns the payout of the id, or null if there is none. The contract's state decides; only then is the event searched,
 * backwards from the newest block. A failed search throws RPC_UNAVAILABLE, because null would mean "not paid".
 */
export async function findDelivery(
  rpc: Rpc,
  delivery: { readonly address: EvmAddress; readonly deployBlock: bigint },
  deliveryId: Hex32,
  at: ReadPoint,
): Promise<FoundDelivery | null> {
  if (!(await isDelivered(rpc, delivery.address, deliveryId, at))) return null;
  const found = await searchBackwards(rpc, {
    address: delivery.address,
    topics: [DELIVERED, deliveryId],
    newest: await rpc.ask("eth_blockNumber", [], parseQuantity),
    oldest: delivery.deployBlock,
    read(log) {
      const paid = decodeOfDelivery(log);
      if (paid?.deliveryId !== deliveryId) return null;
      const { kind: _, ...facts } = paid;
      return { ...facts, txHash: log.txHash, blockNumber: log.blockNumber };
    },
  });
  if (found && found !== "unfinished") return found;
  throw rpc.unavailable("event of a delivery not found");
}
