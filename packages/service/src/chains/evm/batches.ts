/** Combines several calls of one lane into one call. */
import { deliveryAbi, depositFactoryAbi, escrowAbi } from "@sluice/contracts/abi";
import { getAbiItem } from "viem";
import { decodeFunctionData, encodeFunctionData } from "./abi.ts";
import { toEvmAddress } from "../../core/hex.ts";
import type { Batch, Call, Effect, GasCall, Receipt } from "../port/index.ts";
import { toCommitment, toLockFacts, toPayout } from "./calldata.ts";
import { deliveryIdOf, deliveryIdOfPayout, predictWallet } from "./commitment.ts";
import type { EvmContracts } from "./contracts.ts";

/** Below the block gas limits, and within what signers allow. */
const BATCH_GAS_MAX = 8_000_000n;
const BATCH_SIZE_MAX = 50;
/** The overhead of a member in our contracts plus a margin for copying its data. */
const JOB_OVERHEAD = 25_000n;
const TRANSACTION_GAS = 50_000n;

/** Methods that combine; each of them has a form for many. */
const COMBINED = ["deploy", "settle", "deliver", "claim"] as const;

type Addresses = Pick<EvmContracts, "factory" | "escrow" | "delivery">;
type OurCall = NonNullable<ReturnType<typeof decodeOurCall>>;

/**
 * Returns the longest batch that starts with the oldest call and combines the calls after it. Null for fewer than two
 * calls. Every member may use as much gas as the most expensive one, and the batch carries that much for each, so that
 * none can starve another.
 */
export function combineCalls(addresses: Addresses, calls: readonly GasCall[]): Batch | null {
  const ours = calls.flatMap(({ call, gas }, index) => {
    const decoded = decodeOurCall(addresses, call);
    return decoded ? [{ index, gas, decoded }] : [];
  });
  for (const method of COMBINED) {
    const members = ours.filter(({ decoded }) => decoded.functionName === method);
    let count = Math.min(members.length, BATCH_SIZE_MAX);
    while (count > 1 && gasOf(members.slice(0, count)).total > BATCH_GAS_MAX) count -= 1;
    if (count < 2) continue;
    const chosen = members.slice(0, count);
    const { total, perJob } = gasOf(chosen);
    const many = encodeMany(
      addresses,
      chosen.map(({ decoded }) => decoded),
      perJob,
    );
    return {
      call: { ...many, value: 0n },
      gas: total,
      members: chosen.map(({ index }) => index),
      isFull: count === BATCH_SIZE_MAX || count < members.length,
    };
  }
  return null;
}

function gasOf(members: readonly { readonly gas: bigint }[]) {
  const perJob = members.reduce((most, { gas }) => (gas > most ? gas : most), 0n);
  const count = BigInt(members.length);
  return { perJob, total: TRANSACTION_GAS + count * (perJob + perJob / 63n + JOB_OVERHEAD) };
}

function encodeMany(
  { factory, escrow, delivery }: Addresses,
  calls: readonly OurCall[],
  gasEach: bigint,
): Pick<Call, "to" | "data"> {
  const commitments = calls.flatMap((call) => (call.functionName === "deploy" ? call.args : []));
  if (commitments.length > 0) {
    const args = [commitments] as const;
    const call = { abi: depositFactoryAbi, functionName: "deployMany", args } as const;
    return { to: factory, data: encodeFunctionData(call) };
  }
  const jobs = calls.flatMap((call) => (call.functionName === "settle" ? call.args : []));
  if (jobs.length > 0) {
    const args = [jobs, gasEach] as const;
    const call = { abi: depositFactoryAbi, functionName: "settleMany", args } as const;
    return { to: factory, data: encodeFunctionData(call) };
  }
  const orders = calls.flatMap((call) => {
    if (call.functionName !== "deliver") return [];
    const [order, signatures] = call.args;
    return [{ order, signatures }];
  });
  if (orders.length > 0) {
    const args = [orders, gasEach] as const;
    const call = { abi: deliveryAbi, functionName: "deliverMany", args } as const;
    return { to: delivery, data: encodeFunctionData(call) };
  }
  const claims = calls.flatMap((call) => {
    if (call.functionName !== "claim") return [];
    const [held, paidAmount, deadline, signatures] = call.args;
    return [{ held, paidAmount, deadline, signatures }];
  });
  const args = [claims, gasEach] as const;
  const call = { abi: escrowAbi, functionName: "claimMany", args } as const;
  return { to: escrow, data: encodeFunctionData(call) };
}

/**
 * Returns whether a call had its effect in a mined batch, read from the logs: a batch succeeds even if its members fail.
 * A deployment that a third party made first has no effect.
 */
export function tookEffect(
  addresses: Addresses,
  { chainId, receipt }: { readonly chainId: number; readonly receipt: Receipt },
  call: Call,
): boolean {
  const { factory, escrow, delivery } = addresses;
  const decoded = decodeOurCall(addresses, call);
  if (!receipt.succeeded || !decoded) return false;
  const has = (test: (effect: Effect) => boolean) => receipt.effects.some(test);
  switch (decoded.functionName) {
    case "deploy": {
      const wallet = predictWallet(factory, toCommitment(decoded.args[0]));
      return has((effect) => effect.kind === "deployed" && effect.wallet === wallet);
    }
    case "settle": {
      const { c, token } = decoded.args[0];
      const wallet = predictWallet(factory, toCommitment(c));
      const swept = toEvmAddress(token);
      return has(
        (effect) => effect.kind === "settled" && effect.wallet === wallet && effect.token === swept,
      );
    }
    case "deliver": {
      const deliveryId = deliveryIdOfPayout(delivery, toPayout(decoded.args[0]));
      return has((effect) => effect.kind === "delivered" && effect.deliveryId === deliveryId);
    }
    case "claim": {
      const deliveryId = deliveryIdOf({
        srcChain: chainId,
        escrow,
        ...toLockFacts(decoded.args[0]),
      });
      return has((effect) => effect.kind === "claimed" && effect.deliveryId === deliveryId);
    }
    default:
      return false;
  }
}

// Few methods, because each decoding hashes the signatures of all that it is given.
const OF_FACTORY = [
  getAbiItem({ abi: depositFactoryAbi, name: "deploy" }),
  getAbiItem({ abi: depositFactoryAbi, name: "settle" }),
] as const;
const OF_DELIVERY = [getAbiItem({ abi: deliveryAbi, name: "deliver" })] as const;
const OF_ESCROW = [getAbiItem({ abi: escrowAbi, name: "claim" })] as const;

/** Decodes a call to our contracts that a batch can have; null for another contract or method. */
function decodeOurCall({ factory, escrow, delivery }: Addresses, { to, data }: Call) {
  try {
    if (to === factory) return decodeFunctionData({ abi: OF_FACTORY, data });
    if (to === delivery) return decodeFunctionData({ abi: OF_DELIVERY, data });
    if (to === escrow) return decodeFunctionData({ abi: OF_ESCROW, data });
    return null;
  } catch {
    return null;
  }
}
