/** Reads locks of an escrow, and who may claim them. */
import { depositFactoryAbi, escrowAbi } from "@sluice/contracts/abi";
import { decodeFunctionResult, encodeFunctionData } from "./abi.ts";
import { type EvmAddress, toEvmAddress } from "../../core/hex.ts";
import type { Listing, Lock, LockFacts, ReadPoint } from "../port/index.ts";
import { readView } from "./calls.ts";
import { deliveryIdOf } from "./commitment.ts";
import type { Rpc } from "./rpc.ts";

/** Returns the lock with exactly these facts, or null if the escrow never held it: it stores only state and time by their hash. */
export function getLock(
  rpc: Rpc,
  escrow: EvmAddress,
  facts: LockFacts,
  at: ReadPoint,
): Promise<Lock | null> {
  const deliveryId = deliveryIdOf({ srcChain: rpc.chainId, escrow, ...facts });
  const call = { abi: escrowAbi, functionName: "recordOf" } as const;
  const data = encodeFunctionData({ ...call, args: [deliveryId] });
  return readView(rpc, { to: escrow, data, at }, (returned) => {
    const [number, lockedAt] = decodeFunctionResult({ ...call, data: returned });
    const state = STATES[number];
    if (state === undefined) throw new TypeError(`unknown state ${number} of a lock`);
    return state === "none" ? null : { ...toFacts(facts), state, lockedAt };
  });
}

/** Returns a lock as the escrow takes it. */
export function toLockArgument({ token, ...facts }: LockFacts) {
  return { ...toFacts({ token, ...facts }), token: toEvmAddress(token) };
}

/** Drops what a caller's object has beside the facts. */
function toFacts(lock: LockFacts): LockFacts {
  const { commitment, delivery, token, amount, minOut, seq } = lock;
  return { commitment, delivery, token, amount, minOut, seq };
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

/** Returns the lowest threshold of the factory in the second `time`. */
export function getThresholdAt(
  rpc: Rpc,
  factory: EvmAddress,
  time: bigint,
  at: ReadPoint,
): Promise<number> {
  const call = { abi: depositFactoryAbi, functionName: "lowestThresholdAt" } as const;
  const data = encodeFunctionData({ ...call, args: [time] });
  return readView(rpc, { to: factory, data, at }, (returned) =>
    Number(decodeFunctionResult({ ...call, data: returned })),
  );
}

/** `LockState` of the contract by number. */
const STATES = ["none", "locked", "claimed", "returned", "taken_back"] as const;
