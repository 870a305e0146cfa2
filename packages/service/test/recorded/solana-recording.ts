/** Recorded blocks of Solana, and a node that replays one. SOURCES.md lists them. */
import type { Asked, Reply } from "../evm/malformed-node.ts";
import { readAnswer } from "./recording.ts";

interface AccountKey {
  readonly pubkey: string;
  readonly signer: boolean;
  readonly writable: boolean;
  readonly source: string;
}

/** A block as nodes answer with all details, in either encoding of JSON. */
export interface RecordedBlock {
  readonly parentSlot: number;
  readonly blockhash: string;
  readonly previousBlockhash: string;
  readonly transactions: readonly {
    readonly version?: unknown;
    readonly transaction: {
      readonly signatures: readonly string[];
      readonly message: {
        readonly accountKeys: readonly (string | AccountKey)[];
        readonly header?: { readonly numRequiredSignatures: number };
      };
    };
    readonly meta: Readonly<Record<string, unknown>> & {
      readonly loadedAddresses?: {
        readonly writable: readonly string[];
        readonly readonly: readonly string[];
      } | null;
    };
  }[];
}

/** Reads the block that was recorded at a slot. */
export function readRecordedBlock(name: string): RecordedBlock {
  const block = readAnswer<RecordedBlock>(`solana/${name}-block.json`);
  if (block === undefined) throw new Error(`there is no recorded block ${name}`);
  return block;
}

/** Answers as a node whose newest final block is the recorded one. */
export function replayBlock(block: RecordedBlock, genesisHash: string): (asked: Asked) => Reply {
  const slot = block.parentSlot + 1;
  return ({ method, params: [, options] }) => {
    if (method === "getGenesisHash") return { result: genesisHash };
    if (method === "getSlot") return { result: slot };
    if (method === "getBlocksWithLimit") return { result: [slot] };
    if (method !== "getBlock") {
      return { error: { code: -32601, message: `${method} was not recorded` } };
    }
    const { transactions, ...head } = block;
    const details =
      typeof options === "object" && options !== null && "transactionDetails" in options
        ? options.transactionDetails
        : "full";
    if (details === "none") return { result: head };
    if (details === "accounts") {
      return { result: { ...head, transactions: transactions.map(toAccountsDetail) } };
    }
    return { result: block };
  };
}

/**
 * Returns a transaction in the encoding `json`, which the stand-in for a Yellowstone server takes. Of `jsonParsed`, the
 * instructions are left out: they are not encoded there.
 */
export function toPlainJson(recorded: RecordedBlock["transactions"][number]) {
  const { transaction, meta, version } = recorded;
  const { message } = transaction;
  if (message.header !== undefined) return recorded;
  const keys = message.accountKeys.filter((key) => typeof key !== "string");
  const own = keys.filter(({ source }) => source !== "lookupTable");
  const loaded = keys.filter(({ source }) => source === "lookupTable");
  const list = (some: readonly AccountKey[]) => some.map(({ pubkey }) => pubkey);
  return {
    ...(version === undefined ? {} : { version }),
    transaction: {
      signatures: transaction.signatures,
      message: {
        accountKeys: list(own),
        header: {
          numRequiredSignatures: own.filter(({ signer }) => signer).length,
          numReadonlySignedAccounts: 0,
          numReadonlyUnsignedAccounts: 0,
        },
        recentBlockhash: "11111111111111111111111111111111",
        instructions: [],
      },
    },
    meta: {
      ...meta,
      innerInstructions: null,
      loadedAddresses: {
        writable: list(loaded.filter(({ writable }) => writable)),
        readonly: list(loaded.filter(({ writable }) => !writable)),
      },
    },
  };
}

/** Reduces a transaction as Agave does when a request asks for accounts only. */
export function toAccountsDetail({
  transaction,
  meta,
  version,
}: RecordedBlock["transactions"][number]) {
  const { err, status, fee } = meta;
  const { preBalances, postBalances, preTokenBalances, postTokenBalances } = meta;
  return {
    transaction: { signatures: transaction.signatures, accountKeys: listKeys(transaction, meta) },
    meta: { err, status, fee, preBalances, postBalances, preTokenBalances, postTokenBalances },
    ...(version === undefined ? {} : { version }),
  };
}

function listKeys(
  { message }: RecordedBlock["transactions"][number]["transaction"],
  { loadedAddresses }: RecordedBlock["transactions"][number]["meta"],
): readonly (AccountKey | Pick<AccountKey, "pubkey" | "signer">)[] {
  const signers = message.header?.numRequiredSignatures ?? 0;
  const own = message.accountKeys.map((key, index) =>
    typeof key === "string" ? { pubkey: key, signer: index < signers } : key,
  );
  // The encoding `jsonParsed` already lists the loaded accounts among the others.
  if (message.header === undefined) return own;
  const loaded = [...(loadedAddresses?.writable ?? []), ...(loadedAddresses?.readonly ?? [])];
  return [...own, ...loaded.map((pubkey) => ({ pubkey, signer: false }))];
}
