/** Payments as a `Delivery` contract made them. */
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

/** Whether the contract paid the id. */
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

/** What the contract may still pay of a token in the current 24 hours. */
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
 * The payment of the id, or null when the contract has made none. The contract's state decides; its event is looked for
 * only then, backwards from the newest block. Not finding it throws RPC_UNAVAILABLE: null would mean "not paid".
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
