/** Payments as a `Delivery` contract made them. */
import { decodeFunctionResult, encodeFunctionData, toEventSelector } from "viem";
import { deliveryAbi } from "@sluice/contracts/abi";
import type { EvmAddress, Hex32 } from "../../core/hex.ts";
import type { FoundDelivery, ReadPoint } from "../port.ts";
import { parseLogs, parseQuantity } from "./answers.ts";
import { readView, toQuantity } from "./calls.ts";
import { decodeOfDelivery } from "./effects.ts";
import type { Rpc } from "./rpc.ts";

const DELIVERED = toEventSelector("Delivered(bytes32,bytes32,address,address,uint256)");

/** Blocks of the first search. Deliveries are looked for soon after they were made. */
const FIRST_SPAN = 2_000n;
const REQUESTS_MAX = 64;

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
  let end = await rpc.ask("eth_blockNumber", [], parseQuantity);
  let span = FIRST_SPAN;
  for (let requests = 0; requests < REQUESTS_MAX && end >= delivery.deployBlock; requests++) {
    const start = end - span + 1n > delivery.deployBlock ? end - span + 1n : delivery.deployBlock;
    const found = await searchBlocks(rpc, delivery.address, deliveryId, { start, end });
    if (found === "refused") {
      if (span === 1n) break;
      span /= 2n;
    } else if (found) {
      return found;
    } else {
      end = start - 1n;
      span *= 2n;
    }
  }
  throw rpc.unavailable("event of a delivery not found");
}

/** The event in a range of blocks, or null; "refused" when the node states an error: it may take a smaller range. */
async function searchBlocks(
  rpc: Rpc,
  address: EvmAddress,
  deliveryId: Hex32,
  { start, end }: { readonly start: bigint; readonly end: bigint },
): Promise<FoundDelivery | null | "refused"> {
  const topics = [DELIVERED, deliveryId];
  const range = { fromBlock: toQuantity(start), toBlock: toQuantity(end) };
  const answer = await rpc.call("eth_getLogs", [{ ...range, address, topics }]);
  if (!answer.ok) return "refused";
  return rpc.read("eth_getLogs", answer.result, (result) => {
    for (const log of parseLogs(result)) {
      if (log.removed || log.address !== address) continue;
      const paid = decodeOfDelivery(log);
      if (paid?.deliveryId !== deliveryId) continue;
      const { kind: _, ...facts } = paid;
      return { ...facts, txHash: log.txHash, blockNumber: log.blockNumber };
    }
    return null;
  });
}
