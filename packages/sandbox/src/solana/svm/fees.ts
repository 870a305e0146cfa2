/** What a transaction pays and asks for: its price and limits, from its instructions or, in version 1, its settings. */
import {
  transactionConfigMaskHasComputeUnitLimit,
  transactionConfigMaskHasPriorityFee,
} from "@solana/kit";
import { COMPUTE_BUDGET_PROGRAM_ADDRESS } from "./programs.ts";
import type { DecodedTransaction } from "./transaction.ts";

const LAMPORTS_PER_SIGNATURE = 5_000n;
const MICRO_LAMPORTS = 1_000_000n;
/** What an instruction may use unless the transaction says otherwise. */
const UNITS_PER_INSTRUCTION = 200_000n;
const UNITS_PER_BUILTIN_INSTRUCTION = 3_000n;
const UNITS_MAX = 1_400_000n;
const SET_COMPUTE_UNIT_LIMIT = 2;
const SET_COMPUTE_UNIT_PRICE = 3;
/** Programs that are part of the node, whose instructions have the smaller default. */
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

/** The fee of a transaction in lamports, priority included. */
export function feeOf(message: Message): bigint {
  const base = BigInt(message.header.numRequiredSignatures) * LAMPORTS_PER_SIGNATURE;
  return base + priorityFeeOf(message);
}

/** What a transaction pays per compute unit, in millionths of a lamport. */
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

/** Version 1 has no default: without a limit it may use nothing. */
function computeUnitLimitOf(message: Message): bigint {
  const usual = message.instructions
    .map(({ programIndex }) =>
      BUILTINS.has(message.staticKeys[programIndex] ?? "")
        ? UNITS_PER_BUILTIN_INSTRUCTION
        : UNITS_PER_INSTRUCTION,
    )
    .reduce((sum, units) => sum + units, 0n);
  const limit =
    message.version === 1
      ? (readConfig(message, "u32") ?? 0n)
      : (readSetting(message, SET_COMPUTE_UNIT_LIMIT) ?? usual);
  return limit < UNITS_MAX ? limit : UNITS_MAX;
}

/** A number that an instruction of the compute budget program sets. */
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

/** Of the settings of version 1, only the priority fee has 64 bits; the compute unit limit is the first with 32. */
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
