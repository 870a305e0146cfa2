/** Decodes transactions: legacy, version 0 with lookup tables, and version 1. */
import {
  type Address,
  getAddressDecoder,
  getBase58Decoder,
  getCompiledTransactionMessageDecoder,
  getTransactionDecoder,
  type Transaction,
} from "@solana/kit";

/** Maximum size of a transaction in bytes, and that of version 1. */
const SIZE_MAX = 1_232;
const SIZE_MAX_V1 = 4_096;
/** First byte of a version 1 transaction, which starts with its message. */
const V1_PREFIX = 0x81;
/** Length of the header of a lookup table, before its addresses. */
const TABLE_HEADER_BYTES = 56;
const ADDRESS_BYTES = 32;

/** An account key of a transaction. */
export interface AccountKey {
  readonly pubkey: Address;
  readonly signer: boolean;
  readonly writable: boolean;
  readonly source: "transaction" | "lookupTable";
}

/** An instruction with program and accounts as indexes into the list of keys. */
interface CompiledInstruction {
  readonly programIndex: number;
  readonly accounts: readonly number[];
  readonly data: Uint8Array;
}

/** The accounts that a transaction loads from a lookup table. */
interface TableLookup {
  readonly table: Address;
  readonly writableIndexes: readonly number[];
  readonly readonlyIndexes: readonly number[];
}

/** A decoded transaction. Its signatures, funds and lifetime are not verified. */
export interface DecodedTransaction {
  readonly bytes: Uint8Array;
  readonly transaction: Transaction;
  /** The fee payer's signature, which identifies the transaction. */
  readonly signature: string;
  readonly signatures: readonly string[];
  readonly version: "legacy" | 0 | 1;
  /** A recent blockhash, or the value of a durable nonce. */
  readonly lifetimeToken: string;
  readonly header: {
    readonly numRequiredSignatures: number;
    readonly numReadonlySignedAccounts: number;
    readonly numReadonlyUnsignedAccounts: number;
  };
  readonly staticKeys: readonly Address[];
  readonly instructions: readonly CompiledInstruction[];
  readonly lookups: readonly TableLookup[];
  /** Compute budget of version 1, which is not an instruction there. */
  readonly configValues: readonly { readonly kind: string; readonly value: number | bigint }[];
  readonly configMask: number;
}

/** The keys of a transaction, in the order of the indexes in instructions and balances. */
interface ResolvedKeys {
  readonly keys: readonly AccountKey[];
  readonly loaded: { readonly writable: readonly Address[]; readonly readonly: readonly Address[] };
}

/** Returns the maximum size of a transaction that starts with these bytes. */
export function sizeLimitOf(bytes: Uint8Array): number {
  return bytes[0] === V1_PREFIX ? SIZE_MAX_V1 : SIZE_MAX;
}

/** Decodes a transaction. Throws if the bytes are malformed. */
export function decodeTransaction(bytes: Uint8Array): DecodedTransaction {
  const transaction = getTransactionDecoder().decode(bytes);
  const message = decodeMessage(transaction.messageBytes);
  const signatures = Object.values(transaction.signatures).map((signature) =>
    getBase58Decoder().decode(signature ?? new Uint8Array(64)),
  );
  const [signature] = signatures;
  if (signature === undefined) throw new Error("the transaction has no signer");
  return { bytes, transaction, signature, signatures, ...message };
}

/** Decodes the message of a transaction. Throws if the bytes are malformed. */
export function decodeMessage(
  bytes: Transaction["messageBytes"] | Uint8Array,
): Omit<DecodedTransaction, "bytes" | "transaction" | "signature" | "signatures"> {
  const message = getCompiledTransactionMessageDecoder().decode(bytes);
  const { header, staticAccounts, version } = message;
  const isV1 = "instructionHeaders" in message;
  const instructions = isV1
    ? message.instructionHeaders.map((instruction, index) => ({
        programIndex: instruction.programAccountIndex,
        accounts: [...(message.instructionPayloads[index]?.instructionAccountIndices ?? [])],
        data: Uint8Array.from(message.instructionPayloads[index]?.instructionData ?? []),
      }))
    : message.instructions.map((instruction) => ({
        programIndex: instruction.programAddressIndex,
        accounts: [...(instruction.accountIndices ?? [])],
        data: Uint8Array.from(instruction.data ?? []),
      }));
  const lookups = "addressTableLookups" in message ? (message.addressTableLookups ?? []) : [];
  return {
    version,
    lifetimeToken: message.lifetimeToken,
    header: {
      numRequiredSignatures: header.numSignerAccounts,
      numReadonlySignedAccounts: header.numReadonlySignerAccounts,
      numReadonlyUnsignedAccounts: header.numReadonlyNonSignerAccounts,
    },
    staticKeys: staticAccounts,
    instructions,
    lookups: lookups.map((lookup) => ({
      table: lookup.lookupTableAddress,
      writableIndexes: [...lookup.writableIndexes],
      readonlyIndexes: [...lookup.readonlyIndexes],
    })),
    configValues: isV1 ? message.configValues : [],
    configMask: isV1 ? message.configMask : 0,
  };
}

/** Returns the keys of a transaction; undefined if a lookup table lacks an entry. */
export function resolveKeys(
  { header, staticKeys, lookups }: DecodedTransaction,
  readTable: (table: Address) => Uint8Array | undefined,
): ResolvedKeys | undefined {
  const { numRequiredSignatures, numReadonlySignedAccounts, numReadonlyUnsignedAccounts } = header;
  const signersWritable = numRequiredSignatures - numReadonlySignedAccounts;
  const othersWritable = staticKeys.length - numReadonlyUnsignedAccounts;
  const own = staticKeys.map((pubkey, index) => {
    const signer = index < numRequiredSignatures;
    const writable = index < (signer ? signersWritable : othersWritable);
    return { pubkey, signer, writable, source: "transaction" as const };
  });
  const writable: Address[] = [];
  const readonly: Address[] = [];
  for (const { table, writableIndexes, readonlyIndexes } of lookups) {
    const data = readTable(table);
    for (const [indexes, loaded] of [
      [writableIndexes, writable],
      [readonlyIndexes, readonly],
    ] as const) {
      for (const index of indexes) {
        const found = readTableEntry(data, index);
        if (found === undefined) return undefined;
        loaded.push(found);
      }
    }
  }
  const fromTable = (pubkey: Address, isWritable: boolean): AccountKey => ({
    pubkey,
    signer: false,
    writable: isWritable,
    source: "lookupTable",
  });
  return {
    keys: [
      ...own,
      ...writable.map((key) => fromTable(key, true)),
      ...readonly.map((key) => fromTable(key, false)),
    ],
    loaded: { writable, readonly },
  };
}

function readTableEntry(data: Uint8Array | undefined, index: number): Address | undefined {
  const start = TABLE_HEADER_BYTES + ADDRESS_BYTES * index;
  if (data === undefined || data.length < start + ADDRESS_BYTES) return undefined;
  return getAddressDecoder().decode(data, start);
}
