/** Reads locks of an escrow, and who may claim them. */
import { decodeFunctionResult, encodeFunctionData } from "viem";
import { depositFactoryAbi, escrowAbi } from "@sluice/contracts/abi";
import { type EvmAddress, type Hex32, toEvmAddress, toHex32 } from "../../core/hex.ts";
import type { Listing, Lock, ReadPoint } from "../port/index.ts";
import { readView } from "./calls.ts";
import type { Rpc } from "./rpc.ts";

/** Returns the lock of a delivery id, or null if the escrow has none. */
export function getLock(
  rpc: Rpc,
  escrow: EvmAddress,
  deliveryId: Hex32,
  at: ReadPoint,
): Promise<Lock | null> {
  const data = encodeFunctionData({ abi: escrowAbi, functionName: "lockOf", args: [deliveryId] });
  return readView(rpc, { to: escrow, data, at }, (returned) => {
    const held = decodeFunctionResult({ abi: escrowAbi, functionName: "lockOf", data: returned });
    const state = STATES[held.state];
    if (state === undefined) throw new TypeError(`unknown state ${held.state} of a lock`);
    if (state === "none") return null;
    return {
      state,
      wallet: toEvmAddress(held.wallet),
      commitment: toHex32(held.commitment),
      token: toEvmAddress(held.token),
      amount: held.amount,
      minOut: held.minOut,
      seq: held.seq,
      destChain: held.destChain,
      delivery: toHex32(held.delivery),
      lockedAt: held.lockedAt,
    };
  });
}

/** Returns whether the factory listed an account at a time. */
export function wasListed(
  rpc: Rpc,
  factory: EvmAddress,
  { role, account, time }: Listing,
  at: ReadPoint,
): Promise<boolean> {
  const functionName = role === "relayer" ? "wasRelayer" : "wasAttestor";
  const call = { abi: depositFactoryAbi, functionName } as const;
  const data = encodeFunctionData({ ...call, args: [toEvmAddress(account), time] });
  return readView(rpc, { to: factory, data, at }, (returned) =>
    decodeFunctionResult({ ...call, data: returned }),
  );
}

/** `LockState` of the contract by number. */
const STATES = ["none", "locked", "claimed", "returned", "taken_back"] as const;
