/** The requests to one Solana node. All throw RPC_UNAVAILABLE without a usable answer. */
import { OperatingError } from "../../core/errors.ts";
import type { Address, Hex, Hex32 } from "../../core/hex.ts";
import type { SendOutcome } from "../port/index.ts";
import { createRpc, type NodeAnswer, type Rpc } from "../rpc/rpc.ts";
import type { NodeTraffic } from "../rpc/traffic.ts";
import {
  type AccountAnswer,
  parseAccounts,
  parseTokenAccounts,
  type TokenAccountAnswer,
} from "./account-answers.ts";
import {
  type BlockHeadAnswer,
  type HistoryEntry,
  parseBlockHead,
  parseBlockSignatures,
  parseHash,
  parseHistory,
  parsePrices,
  parseSimulation,
  parseSlots,
  parseTransaction,
  parseWhole,
  type TransactionAnswer,
} from "./answers.ts";
import { type DecodeBlock, decodeBlock, expectRead, type ReadBlock } from "./block-decoder.ts";
import { bytesOf, toBase58 } from "./base58.ts";

/** Solana's commitment level, the certainty that a read requires. */
export type CommitmentLevel = "confirmed" | "finalized";

/** Highest supported transaction version; nodes refuse to return a block that has a newer one. */
const VERSION_MAX = 1;
const UNSUPPORTED_VERSION = -32015;
/** A node's codes for a block that it does not have yet, or says that there is none. */
const NO_BLOCK: readonly number[] = [-32004, -32007, -32009];
/** Entries in one page of a history. */
export const HISTORY_PAGE = 1_000;

/** A Solana node. Reads are at level finalized unless stated otherwise. */
export interface SolanaNode {
  /** Bridge chain id. */
  readonly chainId: number;
  /** Hash of the first block of the cluster that the node must serve. */
  readonly genesisHash: Hex32;
  /** Throws CONFIG_MISSING when the node serves another cluster. */
  checkIdentity(): Promise<void>;
  readGenesis(): Promise<Hex32>;
  getSlot(commitment: CommitmentLevel): Promise<bigint>;
  getHeight(): Promise<bigint>;
  /** Lists up to `limit` slots with a block. Omitted slots cannot be detected here. */
  listSlots(
    from: bigint,
    args: { readonly limit: number; readonly commitment: CommitmentLevel },
  ): Promise<readonly bigint[]>;
  readBlock(slot: bigint, commitment: CommitmentLevel): Promise<ReadBlock>;
  /** Reads a block; null if the node says that it has none, also when it only lacks it. */
  findBlock(slot: bigint, commitment: CommitmentLevel): Promise<ReadBlock | null>;
  readHead(slot: bigint, commitment: CommitmentLevel): Promise<BlockHeadAnswer>;
  /** Returns the position of a transaction in a slot's block; null when the block does not contain it. */
  findPlace(
    slot: bigint,
    signature: string,
  ): Promise<{ readonly hash: Hex32; readonly index: number } | null>;
  getTransaction(signature: string, commitment: CommitmentLevel): Promise<TransactionAnswer | null>;
  /** Lists a page of an account's history, newest first. Throws when the node is behind `minSlot`. */
  listHistory(
    account: Address,
    args: { readonly before?: string | undefined; readonly minSlot: bigint },
  ): Promise<readonly HistoryEntry[]>;
  /** Throws when the node is behind `minSlot`; so does the next method. */
  readAccounts(
    accounts: readonly Address[],
    minSlot: bigint,
    commitment?: CommitmentLevel,
  ): Promise<{ readonly slot: bigint; readonly accounts: readonly (AccountAnswer | null)[] }>;
  readTokenAccounts(
    owner: Address,
    mint: Address,
    minSlot: bigint,
    commitment?: CommitmentLevel,
  ): Promise<{ readonly slot: bigint; readonly accounts: readonly TokenAccountAnswer[] }>;
  /** Returns the rent in lamports of an account of a size in bytes. */
  readRent(bytes: number): Promise<bigint>;
  listPrices(writable: readonly Address[]): Promise<readonly bigint[]>;
  /** Throws when the node is behind `minSlot`. */
  simulate(
    transaction: Hex,
    minSlot: bigint,
  ): Promise<{ readonly error: unknown; readonly units: bigint }>;
  send(raw: Hex, signature: string): Promise<SendOutcome>;
}

/** The address of a node and the cluster that it must serve. */
export interface NodeOptions {
  readonly chainId: number;
  /** May contain credentials; never shown. */
  readonly rpcUrl: string;
  /** Per request, including the body. */
  readonly timeoutMs: number;
  /** The limits of the node; none by default. */
  readonly traffic?: NodeTraffic | undefined;
  /** Hash of the cluster's first block. */
  readonly genesisHash: Hex32;
  /** Decodes answers with blocks; by default in this thread. */
  readonly decodeBlock?: DecodeBlock | undefined;
}

/** Creates a node over HTTP, without a request. */
export function createNode(options: NodeOptions): SolanaNode {
  const rpc = createRpc(options);
  const { chainId } = rpc;
  const decode = options.decodeBlock ?? decodeBlock;
  const askBlock = (slot: bigint, commitment: CommitmentLevel) =>
    rpc.call("getBlock", blockParams(slot, commitment), (body) => decode(slot, body));
  const readGenesis = () => rpc.ask("getGenesisHash", [], parseHash);
  const ask = <T>(method: string, params: readonly unknown[], parse: (result: unknown) => T) =>
    askLoudly(rpc, method, params, parse);

  return {
    chainId,
    genesisHash: options.genesisHash,
    readGenesis,
    async checkIdentity() {
      const found = await readGenesis();
      if (found === options.genesisHash) return;
      throw new OperatingError(
        "CONFIG_MISSING",
        `chain ${chainId}: genesisHash differs; check rpcUrls and genesisHash of this chain.`,
        {
          details: {
            chainId,
            reason: "genesisHash differs",
            found: toBase58(found),
            expected: toBase58(options.genesisHash),
          },
        },
      );
    },
    getSlot: (commitment) => ask("getSlot", [{ commitment }], parseWhole),
    getHeight: () => ask("getBlockHeight", [FINAL], parseWhole),
    listSlots: (from, { limit, commitment }) =>
      ask("getBlocksWithLimit", [Number(from), limit, { commitment }], parseSlots),

    async readBlock(slot, commitment) {
      return readLoudly(rpc, "getBlock", await askBlock(slot, commitment), expectRead);
    },
    async findBlock(slot, commitment) {
      const answer = await askBlock(slot, commitment);
      if (answer.ok ? answer.result === null : NO_BLOCK.includes(answer.code)) return null;
      return readLoudly(rpc, "getBlock", answer, expectRead);
    },
    readHead: (slot, commitment) =>
      ask(
        "getBlock",
        [Number(slot), { commitment, ...BLOCK, transactionDetails: "none" }],
        (result) => parseBlockHead(slot, result),
      ),
    async findPlace(slot, signature) {
      const options = { commitment: "confirmed", ...BLOCK, transactionDetails: "signatures" };
      const { head, signatures } = await ask("getBlock", [Number(slot), options], (result) =>
        parseBlockSignatures(slot, result),
      );
      const index = signatures.indexOf(signature);
      return index === -1 ? null : { hash: head.hash, index };
    },
    async getTransaction(signature, commitment) {
      const options = {
        commitment,
        encoding: "json",
        maxSupportedTransactionVersion: VERSION_MAX,
      };
      const found = await ask("getTransaction", [signature, options], parseTransaction);
      if (found && found.signature !== signature) throw rpc.unavailable("another transaction");
      return found;
    },
    async listHistory(account, { before, minSlot }) {
      const options = { ...FINAL, limit: HISTORY_PAGE, minContextSlot: Number(minSlot), before };
      return ask("getSignaturesForAddress", [toBase58(account), options], parseHistory);
    },
    async readAccounts(accounts, minSlot, commitment = "finalized") {
      const params = [
        accounts.map((account) => toBase58(account)),
        { commitment, encoding: "base64", minContextSlot: Number(minSlot) },
      ];
      const answer = await ask("getMultipleAccounts", params, parseAccounts);
      if (answer.slot < minSlot) throw rpc.unavailable("behind");
      if (answer.accounts.length !== accounts.length) throw rpc.unavailable("accounts missing");
      return answer;
    },
    async readTokenAccounts(owner, mint, minSlot, commitment = "finalized") {
      const expected = { owner: toBase58(owner), mint: toBase58(mint) };
      const params = [
        expected.owner,
        { mint: expected.mint },
        { commitment, encoding: "base64", minContextSlot: Number(minSlot) },
      ];
      const answer = await ask("getTokenAccountsByOwner", params, (result) =>
        parseTokenAccounts(expected, result),
      );
      if (answer.slot < minSlot) throw rpc.unavailable("behind");
      return answer;
    },
    readRent: (bytes) => ask("getMinimumBalanceForRentExemption", [bytes, FINAL], parseWhole),
    listPrices: (writable) =>
      ask(
        "getRecentPrioritizationFees",
        [writable.map((account) => toBase58(account))],
        parsePrices,
      ),
    async simulate(transaction, minSlot) {
      const options = {
        commitment: "confirmed",
        encoding: "base64",
        sigVerify: false,
        replaceRecentBlockhash: true,
        minContextSlot: Number(minSlot),
      };
      const params = [toBase64(transaction), options];
      const answer = await ask("simulateTransaction", params, parseSimulation);
      if (answer.slot < minSlot) throw rpc.unavailable("behind");
      return answer;
    },
    async send(raw, signature) {
      let answer: NodeAnswer;
      try {
        // The lane has simulated the transaction and rebroadcasts it, so the node need do neither.
        const options = { encoding: "base64", skipPreflight: true, maxRetries: 0 };
        answer = await rpc.call("sendTransaction", [toBase64(raw), options]);
      } catch (error) {
        // Without an answer the node may still have accepted it.
        if (error instanceof OperatingError) return "unknown";
        throw error;
      }
      if (answer.ok) return answer.result === signature ? "accepted" : "unknown";
      return /already (been )?processed/i.test(answer.message) ? "known" : "unknown";
    },
  };
}

const FINAL = { commitment: "finalized" } as const;
const BLOCK = { maxSupportedTransactionVersion: VERSION_MAX, rewards: false } as const;

/** Turns an unsupported transaction version into CONFIG_MISSING: retries cannot help, an operator must upgrade. */
async function askLoudly<T>(
  rpc: Rpc,
  method: string,
  params: readonly unknown[],
  parse: (result: unknown) => T,
): Promise<T> {
  return readLoudly(rpc, method, await rpc.call(method, params), parse);
}

function readLoudly<T>(
  rpc: Rpc,
  method: string,
  answer: NodeAnswer,
  parse: (result: unknown) => T,
): T {
  if (answer.ok) return rpc.read(method, answer.result, parse);
  if (answer.code !== UNSUPPORTED_VERSION) {
    throw rpc.refusal(method, answer);
  }
  const { chainId } = rpc;
  throw new OperatingError(
    "CONFIG_MISSING",
    `chain ${chainId}: found a transaction version that this release cannot read. Upgrade Sluice.`,
    { details: { chainId, reason: "transaction version" } },
  );
}

function blockParams(slot: bigint, commitment: CommitmentLevel): readonly unknown[] {
  return [Number(slot), { commitment, ...BLOCK, transactionDetails: "accounts", encoding: "json" }];
}

function toBase64(hex: Hex): string {
  return Buffer.from(bytesOf(hex)).toString("base64");
}
