/** Several calls of one lane as one call of the factory. */
import { depositFactoryAbi } from "@sluice/contracts/abi";
import { decodeFunctionData, encodeFunctionData } from "viem";
import type { Commitment } from "../../core/commitment.ts";
import { type EvmAddress, type Hex, toEvmAddress, toHex32 } from "../../core/hex.ts";
import type { Batch, Call, GasCall, Receipt } from "../port/index.ts";
import { predictWallet } from "./commitment.ts";

/** Under every block's limit, and what signers allow. */
const BATCH_GAS_MAX = 8_000_000n;
const BATCH_SIZE_MAX = 50;
/** `DepositFactory.JOB_OVERHEAD`, and a margin for the copy of the job's data. */
const JOB_OVERHEAD = 25_000n;
const TRANSACTION_GAS = 50_000n;

type FactoryCall = ReturnType<typeof decodeFactoryCall>;

/**
 * The longest batch that begins with the oldest call and can be made of those after it: `deployMany` or `settleMany`.
 * Null when that is fewer than two. Every job of `settleMany` may use as much gas as the greediest, and so much is there
 * for each: none can starve another.
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
 * Whether a call of ours had its effect in a mined batch, by the logs: a batch succeeds whatever its jobs do. A
 * deployment that somebody else made first had none.
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

/** A call to the factory, or null: of another contract, or not one of its methods. */
function decodeFactoryCall(factory: EvmAddress, { to, data }: Call) {
  if (to !== factory) return null;
  try {
    return decodeFunctionData({ abi: depositFactoryAbi, data });
  } catch {
    return null;
  }
}

/** As we encoded it ourselves. */
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
