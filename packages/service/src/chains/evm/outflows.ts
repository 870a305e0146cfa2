/** Outflows of deposit addresses in one block, and locks that the escrow returned to them, from our contracts' logs. */
import { decodeEventLog, getAbiItem, toEventSelector } from "viem";
import { depositFactoryAbi, escrowAbi } from "@sluice/contracts/abi";
import { type Hex, toEvmAddress } from "../../core/hex.ts";
import type { Outflow } from "../port/index.ts";
import type { LogAnswer } from "./answers.ts";
import type { EvmContracts } from "./contracts.ts";
import { decodeEffects } from "./effects.ts";

const RETURNED = toEventSelector("Returned(bytes32,address,address,uint256)");

/** Events in which outflows are found. */
export const OUTFLOW_TOPICS: readonly Hex[] = [
  toEventSelector(getAbiItem({ abi: depositFactoryAbi, name: "Settled" })),
  toEventSelector(getAbiItem({ abi: depositFactoryAbi, name: "SettledUnattended" })),
  toEventSelector(getAbiItem({ abi: depositFactoryAbi, name: "Refunded" })),
  RETURNED,
];

/** Reads a log of our contracts; null for another event. Throws if it cannot be decoded. */
export function toOutflow(log: LogAnswer, addresses: EvmContracts): Outflow | null {
  const { txHash, logIndex } = log;
  const [effect] = decodeEffects([log], addresses);
  if (effect?.kind === "settled" || effect?.kind === "refunded" || effect?.kind === "unattended") {
    const kind = effect.kind === "settled" ? "swept" : effect.kind;
    const { wallet, token, amount } = effect;
    return { kind, wallet, token, amount, txHash, logIndex };
  }
  const [signature, ...rest] = log.topics;
  if (log.address !== addresses.escrow || signature !== RETURNED) return null;
  const { args } = decodeEventLog({
    abi: escrowAbi,
    eventName: "Returned",
    data: log.data,
    topics: [signature, ...rest],
  });
  const [wallet, token] = [toEvmAddress(args.wallet), toEvmAddress(args.token)];
  return { kind: "returned", wallet, token, amount: -args.amount, txHash, logIndex };
}
