/** Combines several calls of one lane into one call of the factory. */
import { depositFactoryAbi } from "@sluice/contracts/abi";
import { decodeFunctionData, encodeFunctionData } from "viem";
import type { Commitment } from "../../core/commitment.ts";
import { type EvmAddress, type Hex, toEvmAddress, toHex32 } from "../../core/hex.ts";
import type { Batch, Call, GasCall, Receipt } from "../port/index.ts";
import { predictWallet } from "./commitment.ts";

/** Below the block gas limits, and within what signers allow. */
const BATCH_GAS_MAX = 8_000_000n;
const BATCH_SIZE_MAX = 50;
/** `DepositFactory.JOB_OVERHEAD` plus a margin for copying the job's data. */
const JOB_OVERHEAD = 25_000n;
const TRANSACTION_GAS = 50_000n;

type FactoryCall = ReturnType<typeof decodeFactoryCall>;

/**
 * Returns the longest batch that starts with the oldest call and combines the calls after it: `deployMany` or `settleMany`.
 * Null for fewer than two calls. Every job of `settleMany` may use as much gas as the most expensive one, and the batch
 * carries that much for each, so that none can starve another.
 */
export function combineCalls(factory: EvmAddress, calls: readonly GasCall[]): Batch | null {
  for (const method of ["deploy", "settle"] as const) {
    const members = calls.flatMap((one, index) => {
      const decoded = decodeFactoryCall(factory, one.call);
      return decoded?.functionName === method ? [{ index, gas: one.gas, decoded }] : [];
    });
    let count = Math.min(members.length, BATCH_SIZE_MAX);
    while (count > 1 && gasOf(members.slice(0, count)).total > BATCH_GAS_MAX) count -= 1;
    if (count < 2) continue;
    const chosen = members.slice(0, count);
    const { total, perJob } = gasOf(chosen);
    const data = encodeMany(
      chosen.map(({ decoded }) => decoded),
      perJob,
    );
    return {
      call: { to: factory, data, value: 0n },
      gas: total,
      members: chosen.map(({ index }) => index),
    };
  }
  return null;
}

function gasOf(members: readonly { readonly gas: bigint }[]) {
  const perJob = members.reduce((most, { gas }) => (gas > most ? gas : most), 0n);
  const count = BigInt(members.length);
  return { perJob, total: TRANSACTION_GAS + count * (perJob + perJob / 63n + JOB_OVERHEAD) };
}

function encodeMany(calls: readonly FactoryCall[], gasPerJob: bigint) {
  const commitments = calls.flatMap((call) =>
    call?.functionName === "deploy" ? [call.args[0]] : [],
  );
  if (commitments.length > 0) {
    return encodeFunctionData({
      abi: depositFactoryAbi,
      functionName: "deployMany",
      args: [commitments],
    });
  }
  const jobs = calls.flatMap((call) => (call?.functionName === "settle" ? [call.args[0]] : []));
  return encodeFunctionData({
    abi: depositFactoryAbi,
    functionName: "settleMany",
    args: [jobs, gasPerJob],
  });
}

/**
 * Returns whether a call had its effect in a mined batch, read from the logs: a batch succeeds even if its jobs fail. A
 * deployment that a third party made first has no effect.
 */
export function tookEffect(factory: EvmAddress, receipt: Receipt, call: Call): boolean {
  const decoded = decodeFactoryCall(factory, call);
  if (!receipt.succeeded || !decoded) return false;
  if (decoded.functionName === "deploy") {
    const wallet = predictWallet(factory, toCommitment(decoded.args[0]));
    return receipt.effects.some((effect) => effect.kind === "deployed" && effect.wallet === wallet);
  }
  if (decoded.functionName === "settle") {
    const { c, token } = decoded.args[0];
    const wallet = predictWallet(factory, toCommitment(c));
    return receipt.effects.some(
      (effect) =>
        effect.kind === "settled" &&
        effect.wallet === wallet &&
        effect.token === toEvmAddress(token),
    );
  }
  return false;
}

/** Decodes a call to the factory; null for another contract or method. */
function decodeFactoryCall(factory: EvmAddress, { to, data }: Call) {
  if (to !== factory) return null;
  try {
    return decodeFunctionData({ abi: depositFactoryAbi, data });
  } catch {
    return null;
  }
}

/** Converts a commitment that this service encoded. */
function toCommitment(c: {
  readonly [Name in keyof Commitment]: Commitment[Name] extends number ? number : Hex;
}): Commitment {
  return {
    ...c,
    integrator: toHex32(c.integrator),
    userId: toHex32(c.userId),
    destWallet: toHex32(c.destWallet),
    destToken: toHex32(c.destToken),
    refundAuthority: toHex32(c.refundAuthority),
  };
}
