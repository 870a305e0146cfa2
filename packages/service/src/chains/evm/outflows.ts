/** Outflows of deposit addresses in one block, and locks that the escrow returned to them, from our contracts' logs. */
import { decodeEventLog, getAbiItem, toEventSelector } from "viem";
import { depositFactoryAbi, escrowAbi } from "@sluice/contracts/abi";
import { type EvmAddress, type Hex, type Hex32, toEvmAddress, toHex32 } from "../../core/hex.ts";
import type { Outflow } from "../port/index.ts";
import type { LogAnswer } from "./answers.ts";
import type { EvmContracts } from "./contracts.ts";
import { decodeEffects } from "./effects.ts";
import { getLock } from "./locks.ts";
import type { Rpc } from "./rpc.ts";

const RETURNED = toEventSelector("Returned(bytes32,address,uint256)");

/** Events in which outflows are found. */
export const OUTFLOW_TOPICS: readonly Hex[] = [
  toEventSelector(getAbiItem({ abi: depositFactoryAbi, name: "Settled" })),
  toEventSelector(getAbiItem({ abi: depositFactoryAbi, name: "Refunded" })),
  RETURNED,
];

/** An outflow as its log states it; a return does not name its token, but its lock. */
export type OutflowLog = Omit<Outflow, "token" | "wallet"> & {
  readonly wallet: EvmAddress;
} & ({ readonly token: EvmAddress } | { readonly deliveryId: Hex32 });

/** Reads a log of our contracts; null for another event. Throws if it cannot be decoded. */
export function toOutflowLog(log: LogAnswer, addresses: EvmContracts): OutflowLog | null {
  const { txHash, logIndex } = log;
  const [effect] = decodeEffects([log], addresses);
  if (effect?.kind === "settled" || effect?.kind === "refunded") {
    const kind = effect.kind === "settled" ? "swept" : "refunded";
    const [wallet, token] = [toEvmAddress(effect.wallet), toEvmAddress(effect.token)];
    return { kind, wallet, token, amount: effect.amount, txHash, logIndex };
  }
  const [signature, ...rest] = log.topics;
  if (log.address !== addresses.escrow || signature !== RETURNED) return null;
  const { args } = decodeEventLog({
    abi: escrowAbi,
    eventName: "Returned",
    data: log.data,
    topics: [signature, ...rest],
  });
  const deliveryId = toHex32(args.deliveryId);
  const wallet = toEvmAddress(args.wallet);
  return { kind: "returned", wallet, deliveryId, amount: -args.amount, txHash, logIndex };
}

/** Completes outflows. The token of a return is read from its lock, which outlives the event. */
export function readOutflows(
  rpc: Rpc,
  logs: readonly OutflowLog[],
  escrow: EvmAddress,
): Promise<Outflow[]> {
  return Promise.all(
    logs.map(async (log) => {
      if ("token" in log) return log;
      const { deliveryId, ...outflow } = log;
      const lock = await getLock(rpc, escrow, deliveryId, "latest");
      if (!lock) throw rpc.unavailable("lock not found");
      return { ...outflow, token: lock.token };
    }),
  );
}
