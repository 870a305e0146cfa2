/** Outflows of deposit addresses in one block, and locks that the escrow returned to them, from our contracts' logs. */
import { decodeEventLog, toEventSelector } from "viem";
import { escrowAbi } from "@sluice/contracts/abi";
import { type Hex32, toEvmAddress, toHex32 } from "../../core/hex.ts";
import type { BlockRef, Outflow } from "../port/index.ts";
import type { LogAnswer } from "./answers.ts";
import type { EvmContracts } from "./contracts.ts";
import { decodeEffects } from "./effects.ts";
import { getLock } from "./locks.ts";
import type { Rpc } from "./rpc.ts";
import { listLogs } from "./transfers.ts";

const RETURNED = toEventSelector("Returned(bytes32,address,uint256)");

/** Lists outflows of every token in log order. Throws RPC_UNAVAILABLE if the answer may be incomplete. */
export async function listOutflows(
  rpc: Rpc,
  block: BlockRef,
  addresses: EvmContracts,
): Promise<Outflow[]> {
  const { factory, escrow } = addresses;
  const isOurs = (log: LogAnswer) => log.address === factory || log.address === escrow;
  const logs = await listLogs(rpc, block, { address: [factory, escrow] }, isOurs);
  const outflows: Outflow[] = [];
  for (const log of logs) {
    const outflow = readOutflow(log, addresses) ?? (await readReturn(rpc, log, escrow));
    if (outflow) outflows.push(outflow);
  }
  return outflows;
}

function readOutflow(log: LogAnswer, addresses: EvmContracts): Outflow | null {
  const [effect] = decodeEffects([log], addresses);
  if (effect?.kind !== "settled" && effect?.kind !== "refunded") return null;
  const { wallet, token, amount } = effect;
  const kind = effect.kind === "settled" ? "swept" : "refunded";
  return { kind, wallet, token, amount, txHash: log.txHash, logIndex: log.logIndex };
}

/** Reads the token of a return from its lock, because the event does not name it. The lock outlives the event. */
async function readReturn(
  rpc: Rpc,
  log: LogAnswer,
  escrow: EvmContracts["escrow"],
): Promise<Outflow | null> {
  const [signature, ...rest] = log.topics;
  if (log.address !== escrow || signature !== RETURNED) return null;
  const { args } = decodeEventLog({
    abi: escrowAbi,
    eventName: "Returned",
    data: log.data,
    topics: [signature, ...rest],
  });
  const deliveryId: Hex32 = toHex32(args.deliveryId);
  const lock = await getLock(rpc, escrow, deliveryId, "latest");
  if (!lock) throw rpc.unavailable("lock not found");
  return {
    kind: "returned",
    wallet: toEvmAddress(args.wallet),
    token: lock.token,
    amount: -args.amount,
    txHash: log.txHash,
    logIndex: log.logIndex,
  };
}
