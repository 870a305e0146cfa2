/** The part of a vault's balance that stood, computed from histories that a node lists. */
import { describe, expect, test } from "vitest";
import { type Address, NATIVE_SOL, toAddress } from "../../core/hex.ts";
import type { HistoryEntry, TransactionAnswer } from "./answers.ts";
import { toBase58 } from "./base58.ts";
import { HISTORY_PAGE, type SolanaNode } from "./node.ts";
import { readStood, TRANSACTIONS_MAX } from "./stood.ts";

const accountOf = (byte: string) => toAddress(`0x${byte.repeat(32)}`);
const VAULT = accountOf("a1");
const TOKEN = accountOf("b2");
const ASSOCIATED = accountOf("c3");
const SHARED = accountOf("c4");
const SINCE_S = 1_000n;

interface Change {
  readonly at: bigint;
  readonly gain: bigint;
  readonly fails?: true;
}

/** Creates a node whose vault has the changes of a token, oldest first, in the history of an account. */
function createNode(changes: readonly Change[], token: Address = TOKEN) {
  const balance = changes.reduce((sum, { gain, fails }) => (fails ? sum : sum + gain), 0n);
  const place = token === NATIVE_SOL ? VAULT : ASSOCIATED;
  const entries = changes.map((change, index): HistoryEntry & Change => ({
    ...change,
    signature: `transaction ${index}`,
    slot: BigInt(index),
    succeeded: !change.fails,
    memo: null,
  }));
  const known: Partial<SolanaNode> = {
    chainId: 1,
    readAccounts: async () => ({
      slot: 500n,
      accounts: [{ lamports: balance, owner: VAULT, data: Buffer.alloc(0) }],
    }),
    readTokenAccounts: async () => ({
      slot: 500n,
      accounts: [
        { account: ASSOCIATED, amount: balance, isShared: false },
        { account: SHARED, amount: 7n, isShared: true },
      ],
    }),
    async listHistory(account, { minSlot }) {
      expect(minSlot).toBe(500n);
      if (account !== place && token !== NATIVE_SOL) return [];
      return entries.toReversed().slice(0, HISTORY_PAGE);
    },
    async getTransaction(signature) {
      const entry = entries.find((one) => one.signature === signature);
      if (!entry) return null;
      const { at: time, gain: change } = entry;
      const sol = token === NATIVE_SOL ? [{ account: toBase58(VAULT), change }] : [];
      const [owner, mint] = [toBase58(VAULT), toBase58(TOKEN)];
      const tokens = token === NATIVE_SOL ? [] : [{ owner, mint, change }];
      // CAST: the other fields are not read.
      return { signature, time, sol, tokens } as unknown as TransactionAnswer;
    },
  };
  // CAST: nothing else is asked of it.
  return known as SolanaNode;
}

const read = (node: SolanaNode, token: Address = TOKEN) =>
  readStood(node, 0n, { token, wallet: VAULT, sinceS: SINCE_S });

describe("the balance that stood", () => {
  test.each([TOKEN, NATIVE_SOL])(
    "is the final one less later arrivals, of token %s [T203]",
    async (token) => {
      const changes = [
        { at: 900n, gain: 30n },
        { at: 999n, gain: 10n },
        { at: 1_000n, gain: 5n },
        { at: 2_000n, gain: 3n },
      ];
      expect(await read(createNode(changes, token), token)).toBe(40n);
    },
  );

  test("is nothing if all of it arrived later", async () => {
    expect(await read(createNode([{ at: 1_000n, gain: 40n }]))).toBe("too_recent");
    expect(await read(createNode([]))).toBe("too_recent");
  });

  test("is nothing after an outflow in that time, though the vault filled again [T203]", async () => {
    const filled = { at: 1_500n, gain: 40n };
    const before = [{ at: 900n, gain: 40n }];
    expect(await read(createNode([...before, { at: 1_200n, gain: -40n }, filled]))).toBe(
      "moved_since",
    );
    expect(await read(createNode([...before, { at: 950n, gain: -40n }, filled]))).toBe(
      "too_recent",
    );
    const failed = { at: 1_200n, gain: -40n, fails: true } as const;
    expect(await read(createNode([...before, failed]))).toBe(40n);
  });

  test("is not read from more transactions than a request may cost", async () => {
    const old = { at: 900n, gain: 40n };
    const dust = (count: number) => Array.from({ length: count }, () => ({ at: 1_500n, gain: 1n }));
    // One more, the first that is old enough, ends the search.
    expect(await read(createNode([old, ...dust(TRANSACTIONS_MAX - 1)]))).toBe(40n);
    expect(await read(createNode([old, ...dust(TRANSACTIONS_MAX)]))).toBe("history_too_long");
    const failures = Array.from({ length: HISTORY_PAGE }, () => ({
      at: 1_500n,
      gain: 0n,
      fails: true as const,
    }));
    expect(await read(createNode([old, ...failures]))).toBe("history_too_long");
  });
});
