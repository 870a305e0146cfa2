/** Verification of a block's transfers against its balances. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  type ChainMembers,
  createStrictChain,
  hashOf,
  silentLog,
} from "../../test/support/doubles.ts";
import type { Outflow, Transfer } from "../chains/port/index.ts";
import { type Address, type EvmAddress, NATIVE_TOKEN, toEvmAddress, toHex32 } from "../core/hex.ts";
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

type Held = Readonly<Record<Address, bigint | null>>;

/** Verifies transfers against given balances and outflows; returns the credited tokens and amounts, and the requests. */
async function verify(
  transfers: readonly Transfer[],
  facts: {
    readonly before: Held | null;
    readonly after: Held | null;
    readonly outflows?: readonly Outflow[];
    /** Base units that are recorded for the block already. */
    readonly recordedAmount?: bigint;
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
  };
  // CAST: verifyArrivals uses no other dependency.
  const deps = { chain: createStrictChain(members), log: silentLog } as unknown as ScannerDeps;
  const arrivals = await verifyArrivals(deps, BLOCK, {
    arrivals: groupByHolding(2, BLOCK, transfers).map((arrived) => ({
      ...arrived,
      recordedAmount: facts.recordedAmount ?? 0n,
    })),
    outflows: facts.outflows ?? [],
  });
  const recorded = arrivals.flatMap((arrived) =>
    arrived.transfers.map(({ amount }) => [arrived.token, amount]),
  );
  return { recorded, asked };
}

describe("arrivals", () => {
  test("are credited as logged when the balance rose by at least their sum", async () => {
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

  test("credit nothing when the balance did not rise [T02]", async () => {
    for (const after of [100n, 99n, 0n]) {
      const facts = { before: { [TOKEN]: 100n }, after: { [TOKEN]: after } };
      expect((await verify([transferOf(5n, 1)], facts)).recorded).toEqual([]);
    }
  });

  test("share the rise in proportion when more was logged, to the base unit [T07]", async () => {
    const transfers = [transferOf(100n, 1), transferOf(200n, 2), transferOf(1n, 3)];
    const facts = { before: { [TOKEN]: 0n }, after: { [TOKEN]: 150n } };
    expect((await verify(transfers, facts)).recorded).toEqual([
      [TOKEN, 49n],
      [TOKEN, 100n],
      [TOKEN, 1n],
    ]);
  });

  test("count sweeps and returned locks of the same block", async () => {
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

  test("credit nothing for a token whose balanceOf fails, without blocking other tokens [T12]", async () => {
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

  test("credit token logs when the node has pruned the state", async () => {
    const held = { [TOKEN]: 0n };
    for (const facts of [
      { before: null, after: held },
      { before: null, after: null },
    ]) {
      expect((await verify([transferOf(5n, 1)], facts)).recorded).toEqual([[TOKEN, 5n]]);
    }
  });

  test("read balances twice for any number of transfers, and never for native coin [T18]", async () => {
    const transfers = Array.from({ length: 1_000 }, (_, index) => transferOf(1n, index));
    const { asked } = await verify(transfers, { before: { [TOKEN]: 0n }, after: { [TOKEN]: 1n } });
    expect(asked).toEqual([1, 1]);
    const native = await verify([transferOf(5n, 1, NATIVE_TOKEN)], { before: {}, after: {} });
    expect(native).toEqual({ recorded: [[NATIVE_TOKEN, 5n]], asked: [] });
  });

  test("never exceed the rise of the balance together with recorded transfers of the block [T02]", async () => {
    const facts = { before: { [TOKEN]: 100n }, after: { [TOKEN]: 111n } };
    const transfers = [transferOf(5n, 1), transferOf(6n, 2)];
    const { recorded } = await verify(transfers, { ...facts, recordedAmount: 6n });
    expect(recorded).toEqual([
      [TOKEN, 2n],
      [TOKEN, 3n],
    ]);
    const none = await verify(transfers, { ...facts, recordedAmount: 11n });
    expect(none.recorded).toEqual([]);
  });

  test("add up to the rise when more was logged, and never exceed it", () => {
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
