/** The inspector port over one Solana node. */
import { AccountState, getTokenDecoder } from "@solana-program/token";
import { SYSTEM_PROGRAM_ADDRESS } from "@solana-program/system";
import { OperatingError } from "../../core/errors.ts";
import { type Address, type Hex32, toHex32 } from "../../core/hex.ts";
import { createRpc, type Rpc } from "../rpc/rpc.ts";
import type { NodeTraffic } from "../rpc/traffic.ts";
import type { SeenMemos, SolanaInspector } from "../inspector.ts";
import type { ReadAt } from "../port/index.ts";
import { parseWhole } from "./answers.ts";
import { fromBase58, fromSignature, toSignature } from "./base58.ts";
import { associatedAccountOf, TOKEN_PROGRAMS } from "./derived-accounts.ts";
import { MEMO_PROGRAM } from "./memos.ts";
import { assertMint } from "./mint-policy.ts";
import { type CommitmentLevel, createNode, type SolanaNode } from "./node.ts";
import { costOfUnits, ORDER_UNITS } from "./costs.ts";
import { suggestedPriceOf } from "./sender.ts";
import { rentOf } from "./solana-chain.ts";

const TOKEN_ACCOUNT_BYTES = 165;
const MARKER_BYTES = 1;
/** Error codes for a slot without a block: skipped, or missing in the ledger or long-term storage. */
const NO_BLOCK_CODES: readonly number[] = [-32007, -32009];

const COMMITMENTS: Readonly<Record<ReadAt, CommitmentLevel>> = {
  latest: "confirmed",
  final: "finalized",
};

export interface SolanaInspectorOptions {
  /** Bridge chain id. */
  readonly chainId: number;
  /** May contain credentials; never shown. */
  readonly rpcUrl: string;
  /** Per request, including the body. */
  readonly timeoutMs: number;
  /** The limits of the node; none by default. */
  readonly traffic?: NodeTraffic | undefined;
  readonly genesisHash: Hex32;
  /** Accounts whose recent priority fees decide the offered fee. */
  readonly pricedBy: readonly Address[];
  /** The highest offered priority fee, in micro-lamports per compute unit. */
  readonly unitPriceMax: bigint;
  /** Rent in lamports per byte that new accounts receive. */
  readonly rentPerByte: bigint;
}

/** Inspects a chain through one node. */
export function createSolanaInspector(options: SolanaInspectorOptions): SolanaInspector {
  const { pricedBy, unitPriceMax, rentPerByte } = options;
  const node = createNode(options);
  const rpc = createRpc(options);
  const readAccount = async (account: Address) =>
    (await node.readAccounts([account], 0n)).accounts[0] ?? null;

  return {
    chainId: node.chainId,
    getGenesisHash: () => node.readGenesis(),
    getVersion: () => rpc.ask("getVersion", [], parseVersion),
    getFirstSlot: () => rpc.ask("getFirstAvailableBlock", [], parseWhole),

    async getHead(at) {
      const commitment = COMMITMENTS[at];
      const slot = await node.getSlot(commitment);
      const { hash, parentHash, time } = await node.readHead(slot, commitment);
      if (time === null) throw rpc.unavailable("block time missing");
      return { number: slot, hash, parentHash, timestamp: time };
    },

    async getBlockHash(slot) {
      if (await isSkipped(rpc, slot)) return null;
      const { digest } = await node.readBlock(slot, "finalized");
      return toHex32(`0x${digest}`);
    },

    async countTransactions() {
      const { block } = await node.readBlock(await node.getSlot("finalized"), "finalized");
      return block.count;
    },

    findMemos: (accounts) => findMemos(node, accounts),
    hasTransaction: async (txHash) =>
      (await node.getTransaction(toSignature(txHash), "finalized")) !== null,

    getCoinBalance: async (owner) => (await readAccount(owner))?.lamports ?? 0n,
    async getTransactionCost(paysRecipient) {
      const price = suggestedPriceOf(await node.listPrices(pricedBy), {
        min: 0n,
        max: unitPriceMax,
      });
      const rent = paysRecipient
        ? rentOf(TOKEN_ACCOUNT_BYTES, rentPerByte) + rentOf(MARKER_BYTES, rentPerByte)
        : 0n;
      return costOfUnits(ORDER_UNITS, price) + rent;
    },
    async isWallet(account) {
      const found = await readAccount(account);
      return found && found.owner === SYSTEM_PROGRAM_ADDRESS && found.data.length === 0;
    },

    async findMintFault(mint, configured) {
      const account = await readAccount(mint);
      if (account === null) return "no account";
      try {
        assertMint(account, mint, configured);
        return null;
      } catch (error) {
        if (!(error instanceof OperatingError) || error.code !== "UNSUPPORTED_ROUTE") throw error;
        return String(error.details?.["reason"]);
      }
    },

    async findTokenAccount(owner, mint, program) {
      const account = await readAccount(await associatedAccountOf(owner, mint, program));
      // Not open yet: anybody can send lamports to its address.
      if (account?.owner !== TOKEN_PROGRAMS[program]) return null;
      const token = getTokenDecoder().decode(account.data.subarray(0, TOKEN_ACCOUNT_BYTES));
      if (token.state === AccountState.Uninitialized) return null;
      return {
        owner: fromBase58(token.owner),
        amount: token.amount,
        isFrozen: token.state === AccountState.Frozen,
      };
    },
  };
}

/** Returns whether the node says that a final slot has no block. Other errors are left to the read that follows. */
async function isSkipped(rpc: Rpc, slot: bigint): Promise<boolean> {
  const options = { commitment: "finalized", transactionDetails: "none", rewards: false };
  const answer = await rpc.call("getBlock", [Number(slot), options]);
  return !answer.ok && NO_BLOCK_CODES.includes(answer.code);
}

/**
 * Finds a transaction with a memo. Searches our accounts first, since a node may keep a longer history of them than of the
 * busy memo program. Our accounts also have transactions without a memo; every transaction of the program has one, so
 * only there its absence means that the node lost it.
 */
async function findMemos(node: SolanaNode, accounts: readonly Address[]): Promise<SeenMemos> {
  const program = fromBase58(MEMO_PROGRAM);
  for (const account of [...accounts, program]) {
    const history = await node.listHistory(account, { minSlot: 0n });
    const succeeded = history.filter((entry) => entry.succeeded);
    const found = succeeded.find(({ memo }) => memo !== null);
    if (found) return { kind: "kept", txHash: fromSignature(found.signature) };
    if (account === program && succeeded.length > 0) return { kind: "lost" };
  }
  return { kind: "none" };
}

/** Parses the node's version: the first text of the answer, since each node software uses its own key. */
function parseVersion(value: unknown): string {
  if (typeof value !== "object" || value === null) throw new TypeError("expected a version");
  const [first] = Object.entries(value).filter(([, text]) => typeof text === "string");
  if (!first) throw new TypeError("expected a version");
  return first.join(" ");
}
