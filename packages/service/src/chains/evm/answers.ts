/** Parses a node's answers. Each parser throws `TypeError` on any other form. */
import { type Static, type TSchema, Type } from "typebox";
import { Compile } from "typebox/compile";
import type { EvmAddress, Hex, Hex32, TxHash } from "../../core/hex.ts";

const Quantity = Type.String({ pattern: "^0x[0-9a-fA-F]{1,64}$" });
const Word = Type.String({ pattern: "^0x[0-9a-fA-F]{64}$" });
const Address = Type.String({ pattern: "^0x[0-9a-fA-F]{40}$" });
/** The parser refuses an odd number of digits; a group in the pattern would overflow the stack on long data. */
const Bytes = Type.String({ pattern: "^0x[0-9a-fA-F]*$" });
const Bloom = Type.String({ pattern: "^0x[0-9a-fA-F]{512}$" });

const Block = Type.Object({
  number: Quantity,
  hash: Word,
  parentHash: Word,
  timestamp: Quantity,
  logsBloom: Type.Optional(Bloom),
  baseFeePerGas: Type.Optional(Quantity),
});

const Log = Type.Object({
  address: Address,
  topics: Type.Array(Word, { maxItems: 4 }),
  data: Bytes,
  blockHash: Word,
  blockNumber: Quantity,
  transactionHash: Word,
  transactionIndex: Type.Optional(Quantity),
  logIndex: Quantity,
  removed: Type.Optional(Type.Boolean()),
});

const FullBlock = Type.Object({
  ...Block.properties,
  transactions: Type.Array(
    Type.Object({
      hash: Word,
      from: Address,
      // Absent or null if the transaction creates a contract.
      to: Type.Optional(Type.Union([Type.Null(), Address])),
      value: Quantity,
    }),
  ),
});

const Receipt = Type.Object({
  transactionHash: Word,
  blockHash: Word,
  blockNumber: Quantity,
  status: Type.Union([Type.Literal("0x0"), Type.Literal("0x1")]),
  gasUsed: Quantity,
  effectiveGasPrice: Quantity,
  // OP Stack chains charge this in addition to gas, for data on the parent chain.
  l1Fee: Type.Optional(Quantity),
  logs: Type.Array(Log),
});

const Mined = { transactionHash: Word, blockHash: Word };
const Outcome = Type.Union([
  Type.Object({
    ...Mined,
    status: Type.Union([Type.Literal("0x0"), Type.Literal("0x1")]),
  }),
  // Before Byzantium a receipt has the root of the state in place of the status.
  Type.Object({ ...Mined, root: Word }),
]);

const Proof = Type.Object({
  ...Mined,
  status: Type.Union([Type.Literal("0x0"), Type.Literal("0x1")]),
  logs: Type.Array(
    Type.Object({
      address: Address,
      topics: Type.Array(Word, { maxItems: 4 }),
      data: Bytes,
      logIndex: Quantity,
    }),
  ),
});

const LogReceipt = Type.Object({
  ...Mined,
  blockNumber: Quantity,
  transactionIndex: Quantity,
  logs: Type.Array(
    Type.Object({
      address: Address,
      topics: Type.Array(Word, { maxItems: 4 }),
      data: Bytes,
      logIndex: Quantity,
    }),
  ),
});

const Payment = Type.Object({
  hash: Word,
  // Null while the transaction is not mined.
  blockHash: Type.Union([Type.Null(), Word]),
  from: Address,
  to: Type.Optional(Type.Union([Type.Null(), Address])),
  value: Quantity,
});

const SentCall = Type.Object({
  to: Type.Optional(Type.Union([Type.Null(), Address])),
  input: Bytes,
});

export interface BlockAnswer {
  readonly number: bigint;
  readonly hash: Hex32;
  readonly parentHash: Hex32;
  /** Unix seconds. */
  readonly timestamp: bigint;
  /** Bloom filter of the logs; null if the header has none. */
  readonly logsBloom: Hex | null;
  /** Wei per gas; undefined on chains without EIP-1559. */
  readonly baseFeePerGas: bigint | undefined;
}

/** A block that was read with its transactions. */
export interface FullBlockAnswer extends BlockAnswer {
  /** Number of transactions. */
  readonly size: number;
  /** Its transactions that pay an account, in order. */
  readonly payments: readonly PaymentAnswer[];
}

/** The payment that a transaction makes. */
export interface PaymentAnswer {
  readonly hash: TxHash;
  /** Position in its block. */
  readonly index: number;
  readonly from: EvmAddress;
  readonly to: EvmAddress;
  /** Wei; above zero. */
  readonly value: bigint;
}

export interface LogAnswer {
  readonly address: EvmAddress;
  readonly topics: readonly Hex32[];
  readonly data: Hex;
  readonly blockHash: Hex32;
  readonly blockNumber: bigint;
  readonly txHash: TxHash;
  /** Position of the transaction in its block; zero if the node omits it. */
  readonly txIndex: number;
  readonly logIndex: number;
  /** The node reports that the log's block was orphaned. */
  readonly removed: boolean;
}

export interface ReceiptAnswer {
  readonly txHash: TxHash;
  readonly blockHash: Hex32;
  readonly blockNumber: bigint;
  readonly succeeded: boolean;
  /** Wei. */
  readonly gasCost: bigint;
  readonly logs: readonly LogAnswer[];
}

/** The part of any transaction's receipt that says whether the transaction paid its value. */
export interface OutcomeAnswer {
  readonly txHash: TxHash;
  readonly blockHash: Hex32;
  /** False if the receipt does not say: a payment before Byzantium shows in the balance only. */
  readonly succeeded: boolean;
}

/** The part of any transaction's receipt that shows its transfers. */
export interface ProofAnswer {
  readonly txHash: TxHash;
  readonly blockHash: Hex32;
  readonly succeeded: boolean;
  /** In log order. */
  readonly logs: readonly Pick<LogAnswer, "address" | "topics" | "data" | "logIndex">[];
}

export const parseQuantity = parser(Quantity, BigInt);

/** A quantity that must fit a number exactly: counts, indexes, chain ids. */
export const parseIndex = parser(Quantity, toIndex);

export const parseBytes = parser(Bytes, toBytes);

/** Parses a number in exactly one ABI word, so that a longer answer is not truncated. */
export const parseUintWord = parser(Word, BigInt);

export const parseTxHash = parser(Word, toTxHash);

export const parseBlock = parser(
  Type.Union([Type.Null(), Block]),
  (block): BlockAnswer | null => block && toBlock(block),
);

export const parseFullBlock = parser(
  Type.Union([Type.Null(), FullBlock]),
  (block): FullBlockAnswer | null =>
    block && {
      ...toBlock(block),
      size: block.transactions.length,
      // Most transactions have no value, and are not converted.
      payments: block.transactions.flatMap(({ hash, from, to, value: quantity }, index) => {
        const value = BigInt(quantity);
        if (!to || value === 0n) return [];
        return [
          { hash: toTxHash(hash), index, from: toEvmAddress(from), to: toEvmAddress(to), value },
        ];
      }),
    },
);

/** Parses consecutive words. */
export const parseBalances = parser(Bytes, (text) => splitUints(text, 32));

/** Parses consecutive numbers of 12 bytes. */
export const parsePackedBalances = parser(Bytes, (text) => splitUints(text, 12));

export const parseLogs = parser(Type.Array(Log), (logs) => logs.map(toLog));

/** The part of a log by which it is wanted or not. */
export type LogMark = Pick<LogAnswer, "address" | "topics">;

/** Parses the logs of a transaction that others sent. They need not repeat the block, as those of BSC do not. */
export const parseLogReceipt = parser(Type.Union([Type.Null(), LogReceipt]), (receipt) => {
  if (receipt === null) return null;
  const { transactionHash, blockHash, blockNumber, transactionIndex } = receipt;
  const place = { transactionHash, blockHash, blockNumber, transactionIndex };
  return {
    txHash: toTxHash(transactionHash),
    blockHash: toHex32(blockHash),
    logs: receipt.logs.map((log) => toLog({ ...log, ...place })),
  };
});

/** Parses a block as the hashes of its transactions. */
export const parseTxHashes = parser(
  Type.Union([Type.Null(), Type.Object({ transactions: Type.Array(Word) })]),
  (block) => block && block.transactions.map(toTxHash),
);

export const parseReceipt = parser(
  Type.Union([Type.Null(), Receipt]),
  (receipt): ReceiptAnswer | null =>
    receipt && {
      txHash: toTxHash(receipt.transactionHash),
      blockHash: toHex32(receipt.blockHash),
      blockNumber: BigInt(receipt.blockNumber),
      succeeded: receipt.status === "0x1",
      gasCost:
        BigInt(receipt.gasUsed) * BigInt(receipt.effectiveGasPrice) + BigInt(receipt.l1Fee ?? 0),
      logs: receipt.logs.map(toLog),
    },
);

/**
 * Parses the outcome of a transaction that others sent. Such receipts can be incomplete: before London a receipt has no
 * gas price, and nodes of BSC left out the block hash in logs of system transactions.
 */
export const parseOutcome = parser(
  Type.Union([Type.Null(), Outcome]),
  (receipt): OutcomeAnswer | null =>
    receipt && {
      txHash: toTxHash(receipt.transactionHash),
      blockHash: toHex32(receipt.blockHash),
      succeeded: "status" in receipt && receipt.status === "0x1",
    },
);

/** Parses the receipt of a transaction that others sent. Its logs need not repeat the block, as receipts of BSC do not. */
export const parseProof = parser(
  Type.Union([Type.Null(), Proof]),
  (receipt): ProofAnswer | null =>
    receipt && {
      txHash: toTxHash(receipt.transactionHash),
      blockHash: toHex32(receipt.blockHash),
      succeeded: receipt.status === "0x1",
      logs: receipt.logs
        .map(({ address, topics, data, logIndex }) => ({
          address: toEvmAddress(address),
          topics: topics.map(toHex32),
          data: toBytes(data),
          logIndex: toIndex(logIndex),
        }))
        .sort((one, other) => one.logIndex - other.logIndex),
    },
);

/** Parses a transaction as a payment; its block is null while it is not mined. */
export const parsePayment = parser(
  Type.Union([Type.Null(), Payment]),
  (payment) =>
    payment && {
      txHash: toTxHash(payment.hash),
      blockHash: payment.blockHash === null ? null : toHex32(payment.blockHash),
      from: toEvmAddress(payment.from),
      to: payment.to ? toEvmAddress(payment.to) : null,
      value: BigInt(payment.value),
    },
);

/** Parses what a transaction calls; null if the node does not know it. */
export const parseSentCall = parser(
  Type.Union([Type.Null(), SentCall]),
  // CAST: the schema allows only hex.
  (sent) => sent && { to: sent.to ? toEvmAddress(sent.to) : null, input: sent.input as Hex },
);

function parser<S extends TSchema, T>(schema: S, convert: (value: Static<S>) => T) {
  const form = Compile(schema);
  return (value: unknown): T => {
    if (!form.Check(value)) throw new TypeError("the answer is not of the expected form");
    // CAST: checked against the schema on the line above.
    return convert(value as Static<S>);
  };
}

function splitUints(text: string, bytes: number): bigint[] {
  const digits = text.slice(2);
  const width = 2 * bytes;
  if (digits.length % width !== 0) throw new TypeError("the bytes end within a number");
  return Array.from({ length: digits.length / width }, (_, index) =>
    BigInt(`0x${digits.slice(width * index, width * (index + 1))}`),
  );
}

function toBlock(block: Static<typeof Block>): BlockAnswer {
  const logsBloom = block.logsBloom === undefined ? null : toBytes(block.logsBloom);
  return {
    number: BigInt(block.number),
    hash: toHex32(block.hash),
    parentHash: toHex32(block.parentHash),
    timestamp: BigInt(block.timestamp),
    logsBloom,
    baseFeePerGas: block.baseFeePerGas === undefined ? undefined : BigInt(block.baseFeePerGas),
  };
}

function toLog(log: Static<typeof Log>): LogAnswer {
  return {
    address: toEvmAddress(log.address),
    topics: log.topics.map(toHex32),
    data: toBytes(log.data),
    blockHash: toHex32(log.blockHash),
    blockNumber: BigInt(log.blockNumber),
    txHash: toTxHash(log.transactionHash),
    txIndex: toIndex(log.transactionIndex ?? "0x0"),
    logIndex: toIndex(log.logIndex),
    removed: log.removed ?? false,
  };
}

function toIndex(quantity: string): number {
  const value = Number(quantity);
  if (!Number.isSafeInteger(value)) throw new TypeError("the quantity is too large");
  return value;
}

function toBytes(text: string): Hex {
  if (text.length % 2 !== 0) throw new TypeError("the bytes end in half a byte");
  // CAST: the schema allows hex digits only.
  return text.toLowerCase() as Hex;
}

// The schemas hold the form of words and addresses: it is not checked again, since blocks have thousands of them.

function toHex32(word: string): Hex32 {
  // CAST: a text of the schema `Word`.
  return word.toLowerCase() as Hex32;
}

function toTxHash(word: string): TxHash {
  // CAST: a text of the schema `Word`.
  return word.toLowerCase() as TxHash;
}

function toEvmAddress(address: string): EvmAddress {
  // CAST: a text of the schema `Address`.
  return address.toLowerCase() as EvmAddress;
}
