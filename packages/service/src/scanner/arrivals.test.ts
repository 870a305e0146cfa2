/** Which deposits the balances of a block allow. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  type ChainMembers,
  createStrictChain,
  hashOf,
  silentLog,
} from "../../test/support/doubles.ts";
import type { Outflow, Transfer } from "../chains/port/index.ts";
import { type EvmAddress, NATIVE_TOKEN, toEvmAddress, toHex32 } from "../core/hex.ts";
import { fitTransfers, groupByHolding, verifyArrivals } from "./arrivals.ts";
import type { ScannerDeps } from "./deps.ts";

const TOKEN = toEvmAddress(`0x${"a0".repeat(20)}`);
const OTHER = toEvmAddress(`0x${"a1".repeat(20)}`);
const WALLET = toEvmAddress(`0x${"b0".repeat(20)}`);
const BLOCK = {
  number: 7n,
  hash: toHex32(hashOf("block")),
  parentHash: toHex32(hashOf("parent")),
};

const transferOf = (amount: bigint, logIndex: number, token: EvmAddress = TOKEN): Transfer => ({
  token,
  from: OTHER,
  to: WALLET,
  amount,
  txHash: hashOf(`${logIndex}`),
  logIndex,
  ordinal: 0,
});

type Held = Readonly<Record<EvmAddress, bigint | null>>;

/** What is recorded of transfers, by token and amount, where balances and outflows are as given. */
async function verify(
  transfers: readonly Transfer[],
  facts: {
    readonly before: Held | null;
    readonly after: Held | null;
    readonly outflows?: readonly Outflow[];
  },
) {
  const asked: number[] = [];
  const members: ChainMembers = {
    chainId: 2,
    async listTokenBalances(blockHash, holdings) {
      asked.push(holdings.length);
      const held = blockHash === BLOCK.hash ? facts.after : facts.before;
      return held && holdings.map(({ token }) => held[token] ?? null);
    },
    listOutflows: async () => facts.outflows ?? [],
  };
  // CAST: nothing else of the scanner is used.
  const deps = { chain: createStrictChain(members), log: silentLog } as unknown as ScannerDeps;
  const arrivals = await verifyArrivals(deps, BLOCK, groupByHolding(2, BLOCK, transfers));
  const recorded = arrivals.flatMap((arrived) =>
    arrived.transfers.map(({ amount }) => [arrived.token, amount]),
  );
  return { recorded, asked };
}

describe("arrivals", () => {
  test("are as stated where the balance rose by at least as much", async () => {
    const transfers = [transferOf(5n, 1), transferOf(6n, 2)];
    const before = { [TOKEN]: 100n };
    const { recorded } = await verify(transfers, { before, after: { [TOKEN]: 111n } });
    expect(recorded).toEqual([
      [TOKEN, 5n],
      [TOKEN, 6n],
    ]);
    const more = await verify(transfers, { before, after: { [TOKEN]: 500n } });
    expect(more.recorded).toEqual(recorded);
  });

  test("T02 are none where the balance did not rise, or fell", async () => {
    for (const after of [100n, 99n, 0n]) {
      const facts = { before: { [TOKEN]: 100n }, after: { [TOKEN]: after } };
      expect((await verify([transferOf(5n, 1)], facts)).recorded).toEqual([]);
    }
  });

  test("T07 share what arrived of them, to the unit", async () => {
    const transfers = [transferOf(100n, 1), transferOf(200n, 2), transferOf(1n, 3)];
    const facts = { before: { [TOKEN]: 0n }, after: { [TOKEN]: 150n } };
    expect((await verify(transfers, facts)).recorded).toEqual([
      [TOKEN, 49n],
      [TOKEN, 100n],
      [TOKEN, 1n],
    ]);
  });

  test("are not less for what was swept in the same block, nor more for what was given back", async () => {
    const swept: Outflow = {
      kind: "swept",
      wallet: WALLET,
      token: TOKEN,
      amount: 105n,
      txHash: hashOf("sweep"),
      logIndex: 9,
    };
    const before = { [TOKEN]: 100n };
    const sweep = { before, after: { [TOKEN]: 0n }, outflows: [swept] };
    expect((await verify([transferOf(5n, 1)], sweep)).recorded).toEqual([[TOKEN, 5n]]);
    const returned: Outflow = { ...swept, kind: "returned", amount: -50n };
    const lie = { before, after: { [TOKEN]: 150n }, outflows: [returned] };
    expect((await verify([transferOf(5n, 1)], lie)).recorded).toEqual([]);
    const another = { ...swept, token: OTHER };
    const foreign = { before, after: { [TOKEN]: 100n }, outflows: [another] };
    expect((await verify([transferOf(5n, 1)], foreign)).recorded).toEqual([]);
  });

  describe("are not what a pool gave for another token and the same transaction burned", () => {
    const sweep: Outflow = {
      kind: "swept",
      wallet: WALLET,
      token: OTHER,
      amount: 7n,
      txHash: hashOf("2"),
      logIndex: 9,
    };
    const transfers = [transferOf(5n, 1), transferOf(3_000n, 2), transferOf(6n, 3)];
    const verifyAt = (after: bigint, outflow: Outflow = sweep) =>
      verify(transfers, {
        before: { [TOKEN]: 100n },
        after: { [TOKEN]: after },
        outflows: [outflow],
      });

    test("whose deposits of the same block are as stated", async () => {
      expect((await verifyAt(111n)).recorded).toEqual([
        [TOKEN, 5n],
        [TOKEN, 6n],
      ]);
    });

    test("also where the node no longer has the state", async () => {
      const { recorded } = await verify(transfers, {
        before: null,
        after: null,
        outflows: [sweep],
      });
      expect(recorded).toEqual([
        [TOKEN, 5n],
        [TOKEN, 6n],
      ]);
    });

    test("but what of it stayed is a deposit, in its place", async () => {
      expect((await verifyAt(111n + 40n)).recorded).toEqual([
        [TOKEN, 5n],
        [TOKEN, 40n],
        [TOKEN, 6n],
      ]);
    });

    test.each<[string, Partial<Outflow>]>([
      ["of another wallet", { wallet: OTHER }],
      ["of the token itself", { token: TOKEN, amount: 0n }],
      ["in another transaction", { txHash: hashOf("4") }],
      ["to the refund authority", { kind: "refunded" }],
    ])("and a sweep %s says nothing of it", async (_, change) => {
      const { recorded } = await verifyAt(3_111n, { ...sweep, ...change });
      expect(recorded).toEqual([
        [TOKEN, 5n],
        [TOKEN, 3_000n],
        [TOKEN, 6n],
      ]);
      const shared = await verifyAt(111n, { ...sweep, ...change });
      expect(shared.recorded).not.toEqual([
        [TOKEN, 5n],
        [TOKEN, 6n],
      ]);
    });
  });

  test("T12 are none of a token that states no balance, and the others are not held up", async () => {
    const transfers = [transferOf(5n, 1), transferOf(6n, 2, OTHER)];
    for (const [then, now] of [
      [null, null],
      [0n, null],
      [null, 5n],
    ] as const) {
      const facts = {
        before: { [TOKEN]: then, [OTHER]: 0n },
        after: { [TOKEN]: now, [OTHER]: 6n },
      };
      expect((await verify(transfers, facts)).recorded).toEqual([[OTHER, 6n]]);
    }
  });

  test("are believed where the node no longer has the state, because nothing better is left", async () => {
    const held = { [TOKEN]: 0n };
    for (const facts of [
      { before: null, after: held },
      { before: null, after: null },
    ]) {
      expect((await verify([transferOf(5n, 1)], facts)).recorded).toEqual([[TOKEN, 5n]]);
    }
  });

  test("T18 cost two reads, however many there are, and none in the native coin", async () => {
    const transfers = Array.from({ length: 1_000 }, (_, index) => transferOf(1n, index));
    const { asked } = await verify(transfers, { before: { [TOKEN]: 0n }, after: { [TOKEN]: 1n } });
    expect(asked).toEqual([1, 1]);
    const native = await verify([transferOf(5n, 1, NATIVE_TOKEN)], { before: {}, after: {} });
    expect(native).toEqual({ recorded: [[NATIVE_TOKEN, 5n]], asked: [] });
  });

  test("never are more than what arrived, and all of it where more was stated", () => {
    const amounts = fc.array(fc.bigInt({ min: 1n, max: 2n ** 256n - 1n }), { minLength: 1 });
    fc.assert(
      fc.property(amounts, fc.bigInt({ min: -1n, max: 2n ** 256n - 1n }), (stated, risen) => {
        const fitted = fitTransfers(
          stated.map((amount, index) => transferOf(amount, index)),
          risen,
        );
        const sumOf = (some: readonly bigint[]) => some.reduce((sum, one) => sum + one, 0n);
        const arrived = risen < 0n ? 0n : risen;
        const all = sumOf(stated);
        expect(sumOf(fitted.map(({ amount }) => amount))).toBe(all < arrived ? all : arrived);
        expect(fitted.every(({ amount }) => amount > 0n)).toBe(true);
      }),
    );
  });
});
