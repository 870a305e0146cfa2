/** Computes fees: price and limit of compute units come from instructions or, in version 1, from the configuration. */
import {
  transactionConfigMaskHasComputeUnitLimit,
  transactionConfigMaskHasPriorityFee,
} from "@solana/kit";
import { COMPUTE_BUDGET_PROGRAM_ADDRESS } from "./programs.ts";
import type { DecodedTransaction } from "./transaction.ts";

const LAMPORTS_PER_SIGNATURE = 5_000n;
const MICRO_LAMPORTS = 1_000_000n;
/** Default compute unit limit per instruction. */
const UNITS_PER_INSTRUCTION = 200_000n;
const UNITS_PER_BUILTIN_INSTRUCTION = 3_000n;
const UNITS_MAX = 1_400_000n;
const SET_COMPUTE_UNIT_LIMIT = 2;
const SET_COMPUTE_UNIT_PRICE = 3;
/** Built-in programs, whose instructions have the smaller default. */
const BUILTINS: ReadonlySet<string> = new Set([
  "11111111111111111111111111111111",
  "AddressLookupTab1e1111111111111111111111111",
  "BPFLoader1111111111111111111111111111111111",
  "BPFLoader2111111111111111111111111111111111",
  "BPFLoaderUpgradeab1e11111111111111111111111",
  "ComputeBudget111111111111111111111111111111",
  "Ed25519SigVerify111111111111111111111111111",
  "KeccakSecp256k11111111111111111111111111111",
  "Vote111111111111111111111111111111111111111",
]);

type Message = Pick<
  DecodedTransaction,
  "version" | "header" | "staticKeys" | "instructions" | "configValues" | "configMask"
>;

/** Returns the fee of a transaction in lamports, including the priority fee. */
export function feeOf(message: Message): bigint {
  const base = BigInt(message.header.numRequiredSignatures) * LAMPORTS_PER_SIGNATURE;
  return base + priorityFeeOf(message);
}

/** Returns the price per compute unit, in micro-lamports. */
export function computeUnitPriceOf(message: Message): bigint {
  if (message.version !== 1) return readSetting(message, SET_COMPUTE_UNIT_PRICE) ?? 0n;
  const units = computeUnitLimitOf(message);
  return units === 0n ? 0n : (priorityFeeOf(message) * MICRO_LAMPORTS) / units;
}

function priorityFeeOf(message: Message): bigint {
  if (message.version === 1) return readConfig(message, "u64") ?? 0n;
  const price = readSetting(message, SET_COMPUTE_UNIT_PRICE) ?? 0n;
  return (price * computeUnitLimitOf(message) + MICRO_LAMPORTS - 1n) / MICRO_LAMPORTS;
}

/** Returns the compute unit limit. Version 1 has no default: without a limit it is zero. */
function computeUnitLimitOf(message: Message): bigint {
  const defaultLimit = message.instructions
    .map(({ programIndex }) =>
      BUILTINS.has(message.staticKeys[programIndex] ?? "")
        ? UNITS_PER_BUILTIN_INSTRUCTION
        : UNITS_PER_INSTRUCTION,
    )
    .reduce((sum, units) => sum + units, 0n);
  const limit =
    message.version === 1
      ? (readConfig(message, "u32") ?? 0n)
      : (readSetting(message, SET_COMPUTE_UNIT_LIMIT) ?? defaultLimit);
  return limit < UNITS_MAX ? limit : UNITS_MAX;
}

/** Returns a number set by an instruction of the compute budget program. */
function readSetting({ instructions, staticKeys }: Message, setting: number): bigint | undefined {
  const found = instructions.find(
    ({ programIndex, data }) =>
      staticKeys[programIndex] === COMPUTE_BUDGET_PROGRAM_ADDRESS && data[0] === setting,
  );
  if (!found) return undefined;
  const { data } = found;
  const view = new DataView(data.buffer, data.byteOffset, data.byteLength);
  return setting === SET_COMPUTE_UNIT_LIMIT
    ? BigInt(view.getUint32(1, true))
    : view.getBigUint64(1, true);
}

/** Returns a version 1 setting. Only the priority fee is a u64; the first u32 is the compute unit limit. */
function readConfig(
  { configValues, configMask }: Message,
  kind: "u32" | "u64",
): bigint | undefined {
  const isSet =
    kind === "u64"
      ? transactionConfigMaskHasPriorityFee(configMask)
      : transactionConfigMaskHasComputeUnitLimit(configMask);
  const value = isSet ? configValues.find((one) => one.kind === kind)?.value : undefined;
  return value === undefined ? undefined : BigInt(value);
}
