/**
 * Reads of Solana. Decisions about money use final state. The scanner may walk confirmed blocks, since it removes
 * orphaned ones; a block that has not reached the configured level does not exist for it.
 */
import { Bug } from "../../core/assert.ts";
import { compare } from "../../core/compare.ts";
import { type Address, NATIVE_SOL } from "../../core/hex.ts";
import type { BlockRef, ChainReader, Held, ReadPoint, TokenSource } from "../port/index.ts";
import { canReceive, type TokenAccountAnswer } from "./account-answers.ts";
import type { BlockHeadAnswer } from "./answers.ts";
import { associatedAccountOf, type TokenProgram } from "./derived-accounts.ts";
import { SOURCES_MAX } from "./orders.ts";
import type { Accounts } from "./contracts.ts";
import type { CommitmentLevel } from "./node.ts";
import type { Quorum } from "./quorum.ts";
import { createSectionReader } from "./sections.ts";

/** Configurable commitment levels of reads. */
export interface Levels {
  /** The level of `findBalance`, at which a deposit counts as detected. */
  readonly detectAt: CommitmentLevel;
  /** The level of the blocks that the scanner walks. */
  readonly walkAt: CommitmentLevel;
}

/** Facts of a mint that the reader needs. */
interface MintOf {
  readonly program: TokenProgram;
}

/** Creates the chain's reader. Every method throws RPC_UNAVAILABLE without enough agreeing answers. */
export function createReader(
  quorum: Quorum,
  options: {
    readonly chainId: number;
    /** Undefined for a mint that is not configured. */
    readonly findMintFacts: (mint: Address) => MintOf | undefined;
    readonly levels: Levels;
    readonly accounts: Accounts;
  },
): ChainReader {
  const { chainId, findMintFacts, levels, accounts } = options;
  const { nodes, getFinalSlot, agreeAt, unavailable } = quorum;
  const walked = quorum.blocks[levels.walkAt];

  async function getHead(): Promise<BlockRef> {
    const head = await walked.findHead(await walked.getSlot());
    if (head === null) throw unavailable("newest block missing");
    return toRef(head);
  }

  async function readTokenAccounts(token: Address, owner: Address, level: CommitmentLevel) {
    return agreeAt(level, (node, minSlot) => node.readTokenAccounts(owner, token, minSlot, level), {
      isSame: (one, other) => digestOf(one.accounts) === digestOf(other.accounts),
      // The accounts are valid for all answers at the lowest slot.
      merge: (same) => same.reduce((lowest, one) => (one.slot < lowest.slot ? one : lowest)),
    });
  }

  async function readLamports(
    owner: Address,
    level: CommitmentLevel,
  ): Promise<Held & { readonly asOf: bigint }> {
    return agreeAt(
      level,
      async (node, minSlot) => {
        const { slot, accounts } = await node.readAccounts([owner], minSlot, level);
        return { amount: accounts[0]?.lamports ?? 0n, asOf: slot };
      },
      {
        isSame: (one, other) => one.amount === other.amount,
        merge: (same) => same.reduce((lowest, one) => (one.asOf < lowest.asOf ? one : lowest)),
      },
    );
  }

  /** Reads the rent of an empty account. The cluster lowers it over time, so it is not a constant. */
  function readLeast(): Promise<bigint> {
    return nodes.agree((node) => node.readRent(0));
  }

  async function readHolding(token: Address, owner: Address): Promise<Held> {
    if (token === NATIVE_SOL) {
      const [held, spare] = await Promise.all([readLamports(owner, "finalized"), readLeast()]);
      return { ...held, spare };
    }
    const { slot: asOf, accounts } = await readTokenAccounts(token, owner, "finalized");
    const program = findMintFacts(token)?.program;
    if (!program) throw new Bug("a token that is swept is configured");
    const associated = await associatedAccountOf(owner, token, program);
    const sources = chooseSources(accounts, associated);
    const amount = sources.reduce((sum, source) => sum + source.amount, 0n);
    const isPlain = sources.every(({ account }) => account === associated);
    return { amount, asOf, ...(isPlain ? {} : { sources }) };
  }

  async function readBalance(token: Address, owner: Address, level: CommitmentLevel) {
    if (token === NATIVE_SOL) return (await readLamports(owner, level)).amount;
    const { accounts } = await readTokenAccounts(token, owner, level);
    return sumOf(accounts);
  }

  async function getTime(at: ReadPoint): Promise<bigint> {
    const slot = typeof at === "string" ? await getFinalSlot() : at.number;
    const head = await quorum.blocks.finalized.findHead(slot);
    if (head === null) throw unavailable("no final block");
    if (typeof at !== "string" && head.hash !== at.hash) throw unavailable("another block");
    if (head.time === null) throw unavailable("block time missing");
    return head.time;
  }

  return {
    chainId,
    kind: "svm",
    coin: { token: NATIVE_SOL, decimals: 9 },
    // Every node's identity is checked before its first request.
    checkIdentity: () => nodes.agree(async () => undefined),
    getHead,
    getFinalNumber: getFinalSlot,
    // The slot may have no block.
    getFinalBlock: async () => ({ number: await getFinalSlot(), hash: null }),
    getSafeBlock: async () => ({ number: await getFinalSlot(), hash: null }),
    getTime,
    getBlock: async (number) => {
      const head = await walked.findHead(number);
      return head && toRef(head);
    },
    readSection: createSectionReader(quorum, { accounts, walkAt: levels.walkAt }),
    // Ignores the requested block: Solana cannot read state at a given block.
    getBalance: (token, owner) => readBalance(token, owner, "finalized"),
    readHolding,
    // Anybody can name a mint that does not exist, for which a node answers with an error.
    findBalance: async (token, owner) =>
      token === NATIVE_SOL || findMintFacts(token)
        ? readBalance(token, owner, levels.detectAt)
        : null,
    async simulatePayment({ token, to }) {
      const program = token !== NATIVE_SOL && findMintFacts(token)?.program;
      if (!program) return "accepted";
      const associated = await associatedAccountOf(to, token, program);
      return agreeAt("finalized", async (node, minSlot) => {
        const { accounts } = await node.readAccounts([associated], minSlot, "finalized");
        return canReceive(accounts[0] ?? null, to) ? "accepted" : "refused";
      });
    },
    async getLeastPayment(token, to) {
      if (token !== NATIVE_SOL) return 1n;
      const [{ amount }, least] = await Promise.all([readLamports(to, "finalized"), readLeast()]);
      return amount < least ? least - amount : 1n;
    },
  };
}

function toRef({ slot, hash, parentHash }: BlockHeadAnswer): BlockRef {
  return { number: slot, hash, parentHash };
}

/** Sums the accounts that nobody else may move or close. */
function sumOf(accounts: readonly TokenAccountAnswer[]): bigint {
  return accounts.reduce((sum, { amount, isShared }) => (isShared ? sum : sum + amount), 0n);
}

/** Chooses the accounts that one order takes from: the associated one, then those with the largest balance. */
function chooseSources(
  accounts: readonly TokenAccountAnswer[],
  associated: Address,
): readonly TokenSource[] {
  const rank = ({ account }: TokenAccountAnswer) => (account === associated ? 0 : 1);
  return accounts
    .filter(({ amount, isShared }) => amount > 0n && !isShared)
    .toSorted(
      (one, other) =>
        rank(one) - rank(other) ||
        compare(other.amount, one.amount) ||
        compare(one.account, other.account),
    )
    .slice(0, SOURCES_MAX)
    .map(({ account, amount }) => ({ account, amount }));
}

/** Returns a digest that is independent of the order in which nodes list accounts. */
function digestOf(accounts: readonly TokenAccountAnswer[]): string {
  return accounts
    .map(({ account, amount, isShared }) => `${account}:${amount}:${isShared}`)
    .toSorted()
    .join();
}
