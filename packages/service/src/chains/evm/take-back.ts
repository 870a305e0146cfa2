/** Take-backs: the calls of the refund authority, and its announcement. */
import { escrowAbi } from "@sluice/contracts/abi";
import { decodeFunctionResult, encodeFunctionData } from "./abi.ts";
import { type Address, type EvmAddress, type Hex, toEvmAddress } from "../../core/hex.ts";
import type { ReadPoint, TakeBackStep } from "../port/index.ts";
import { readView } from "./calls.ts";
import { toLockArgument } from "./locks.ts";
import type { Rpc } from "./rpc.ts";

/** Encodes a step for the escrow. */
export function encodeTakeBack(step: TakeBackStep): Hex {
  const { commitment } = step;
  if (step.kind === "take_back") {
    const args = [toLockArgument(step.lock), commitment] as const;
    return encodeFunctionData({ abi: escrowAbi, functionName: "takeBack", args });
  }
  const functionName = step.kind === "announce" ? "announceTakeBack" : "cancelTakeBack";
  const args = [commitment, toEvmAddress(step.token)] as const;
  return encodeFunctionData({ abi: escrowAbi, functionName, args });
}

/** Returns the time of the standing announcement in Unix seconds, or null if there is none. */
export function getAnnouncement(
  rpc: Rpc,
  escrow: EvmAddress,
  { wallet, token }: { readonly wallet: Address; readonly token: Address },
  at: ReadPoint,
): Promise<bigint | null> {
  const call = { abi: escrowAbi, functionName: "takeBackAnnouncedAt" } as const;
  const args = [toEvmAddress(wallet), toEvmAddress(token)] as const;
  const data = encodeFunctionData({ ...call, args });
  return readView(rpc, { to: escrow, data, at }, (returned) => {
    const announcedAt = decodeFunctionResult({ ...call, data: returned });
    return announcedAt === 0n ? null : announcedAt;
  });
}
