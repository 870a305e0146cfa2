/** Formats transactions as JSON, for `getBlock` and `getTransaction`. */
import { getBase58Decoder, getBase64Decoder } from "@solana/kit";
import type { InnerInstructions } from "../svm/bank.ts";
import type { LandedTransaction } from "../ledger.ts";
import { toOneOf, toInteger } from "./params.ts";
import { RPC_CODES, RpcError } from "./rpc-error.ts";

/** The requested encoding and maximum version of transactions. */
interface TransactionForm {
  readonly encoding: "json" | "jsonParsed" | "base58" | "base64";
  /** The highest version that the client supports; undefined: legacy only. */
  readonly versionMax: bigint | undefined;
}

/** Parses the options of a method that returns transactions. */
export function toTransactionForm(options: Readonly<Record<string, unknown>>): TransactionForm {
  const version = options["maxSupportedTransactionVersion"];
  return {
    encoding: toOneOf(options["encoding"], ["json", "jsonParsed", "base58", "base64"], "encoding"),
    versionMax:
      version === undefined || version === null
        ? undefined
        : toInteger(version, "maxSupportedTransactionVersion"),
  };
}

/** Formats a whole transaction. */
export function writeTransaction(landed: LandedTransaction, form: TransactionForm) {
  assertVersion(landed, form);
  return {
    transaction: writeBody(landed, form),
    meta: writeMeta(landed, form),
    ...writeVersion(landed, form),
  };
}

/** Formats the accounts and balances of a transaction, without instructions. */
export function writeAccounts(landed: LandedTransaction, form: TransactionForm) {
  assertVersion(landed, form);
  const { fee, preBalances, postBalances, preTokenBalances, postTokenBalances } = landed.meta;
  return {
    transaction: { accountKeys: landed.keys, signatures: landed.decoded.signatures },
    meta: {
      ...writeOutcome(landed),
      fee,
      preBalances,
      postBalances,
      preTokenBalances,
      postTokenBalances,
    },
    ...writeVersion(landed, form),
  };
}

/** Formats the result of a transaction. */
export function writeOutcome({ meta: { err } }: Pick<LandedTransaction, "meta">) {
  return { err, status: err === null ? { Ok: null } : { Err: err } };
}

function assertVersion({ decoded: { version } }: LandedTransaction, form: TransactionForm): void {
  if (version === "legacy" || (form.versionMax !== undefined && version <= form.versionMax)) return;
  throw new RpcError(
    RPC_CODES.unsupportedTransactionVersion,
    `Transaction version (${version}) is not supported by the requesting client. Please try the request again with the following configuration parameter: "maxSupportedTransactionVersion": ${version}`,
  );
}

function writeVersion({ decoded: { version } }: LandedTransaction, form: TransactionForm) {
  return form.versionMax === undefined ? {} : { version };
}

function writeMeta(landed: LandedTransaction, { encoding }: TransactionForm) {
  const { err: _err, innerInstructions, loadedAddresses, returnData, ...meta } = landed.meta;
  const isParsed = encoding === "jsonParsed";
  return {
    ...writeOutcome(landed),
    ...meta,
    innerInstructions: isParsed
      ? innerInstructions.map((inner) => writeParsedInner(inner, landed))
      : innerInstructions,
    ...(isParsed ? {} : { loadedAddresses }),
    ...(returnData && { returnData }),
    rewards: [],
  };
}

function writeBody(landed: LandedTransaction, { encoding }: TransactionForm) {
  const { bytes } = landed.decoded;
  switch (encoding) {
    case "base58":
      return [getBase58Decoder().decode(bytes), "base58"];
    case "base64":
      return [getBase64Decoder().decode(bytes), "base64"];
    default:
      return { signatures: landed.decoded.signatures, message: writeMessage(landed, encoding) };
  }
}

function writeMessage(landed: LandedTransaction, encoding: "json" | "jsonParsed") {
  const { decoded, keys } = landed;
  const addressTableLookups = decoded.lookups.map((lookup) => ({
    accountKey: lookup.table,
    writableIndexes: lookup.writableIndexes,
    readonlyIndexes: lookup.readonlyIndexes,
  }));
  const instructions = decoded.instructions.map((instruction) => ({
    programIdIndex: instruction.programIndex,
    accounts: instruction.accounts,
    data: getBase58Decoder().decode(instruction.data),
    stackHeight: 1,
  }));
  const isParsed = encoding === "jsonParsed";
  return {
    accountKeys: isParsed ? keys : decoded.staticKeys,
    ...(isParsed ? {} : { header: decoded.header }),
    recentBlockhash: decoded.lifetimeToken,
    instructions: isParsed
      ? instructions.map((instruction) => writeParsedInstruction(instruction, landed))
      : instructions,
    ...(decoded.version === 0 && { addressTableLookups }),
    ...(decoded.version === 1 && {
      configMask: decoded.configMask,
      configValues: decoded.configValues.map(({ value }) => value),
    }),
  };
}

/** Formats an instruction in the way nodes format those of unknown programs: no program's instructions are parsed. */
function writeParsedInstruction(
  instruction: InnerInstructions["instructions"][number],
  { keys }: LandedTransaction,
) {
  return {
    programId: keys[instruction.programIdIndex]?.pubkey,
    accounts: instruction.accounts.map((account) => keys[account]?.pubkey),
    data: instruction.data,
    stackHeight: instruction.stackHeight,
  };
}

function writeParsedInner({ index, instructions }: InnerInstructions, landed: LandedTransaction) {
  return {
    index,
    instructions: instructions.map((instruction) => writeParsedInstruction(instruction, landed)),
  };
}
