import { expect, test } from "vitest";
import {
  createStillClock,
  createStrictChain,
  hashOf,
  silentLog,
} from "../../../../test/support/doubles.ts";
import { RECIPIENT, USDC } from "../../../../test/support/settlement-desk.ts";
import type { FoundDelivery, Payout } from "../../../chains/port/index.ts";
import { GOVERNED } from "../../../core/commitment.ts";
import { OperatingError } from "../../../core/errors.ts";
import { type Hex32, padAddress, toHex32, toTxHash } from "../../../core/hex.ts";
import type { CountedPayout } from "../../../signers/port.ts";
import { watchOthers } from "./others.ts";

const WORD = toHex32(hashOf("word"));
const OWN_ESCROW = RECIPIENT;
const FOREIGN_ESCROW = USDC;

/** The id of a payout, by the number of its lock. */
const idOf = (seq: bigint): Hex32 => toHex32(hashOf(`lock ${seq}`));

const orderOf = (seq: bigint, change: Partial<Payout> = {}): Payout => ({
  commitment: {
    integrator: WORD,
    userId: WORD,
    destChain: 30,
    destWallet: WORD,
    destToken: padAddress(USDC),
    refundAuthority: WORD,
    maxFeeBps: 1,
    maxSlippageBps: 1,
    ...GOVERNED,
  },
  srcChain: 2,
  escrow: OWN_ESCROW,
  srcToken: USDC,
  lockedAmount: 1_000n,
  minOut: 990n,
  seq,
  windowStart: 900n,
  amount: 995n,
  ...change,
});

function openOthers(options: { readonly readTo?: bigint } = {}) {
  const state = {
    head: 110n,
    final: 100n,
    /** By number of the lock; the order is null where another contract made the call. */
    paid: new Map<bigint, { readonly block: bigint; readonly order: Payout | null }>(),
    finalLocks: new Set<bigint>(),
    worth: 7n as bigint | null,
    rangeMax: 1_000n,
    readTo: options.readTo ?? null,
    signed: new Set<Hex32>(),
    accepted: new Set<Hex32>(),
  };
  const counted: CountedPayout[] = [];
  const ranges: (readonly [bigint, bigint])[] = [];
  const clock = createStillClock();
  const destination = createStrictChain({
    chainId: 30,
    addresses: { walletRoot: RECIPIENT, escrow: RECIPIENT, delivery: RECIPIENT },
    getFinalNumber: async () => state.final,
    getHead: async () => ({ number: state.head, hash: WORD, parentHash: WORD }),
    deliveryIdOfPayout: ({ seq }) => idOf(seq),
    hashCommitment: () => WORD,
    findBlockAt: async (timeS) => (timeS === 640n ? 95n : 0n),
    async listIn({ from, to }) {
      if (to - from >= state.rangeMax) {
        throw new OperatingError("RPC_UNAVAILABLE", "The range is too wide.");
      }
      ranges.push([from, to]);
      return [...state.paid].flatMap(([seq, { block }]): FoundDelivery[] =>
        block < from || block > to
          ? []
          : [
              {
                deliveryId: idOf(seq),
                commitment: WORD,
                to: RECIPIENT,
                token: USDC,
                amount: 995n,
                txHash: toTxHash(idOf(seq)),
                blockNumber: block,
              },
            ],
      );
    },
    listOrdered: async (txHash) =>
      [...state.paid].flatMap(([seq, { order }]) =>
        toTxHash(idOf(seq)) === txHash && order ? [order] : [],
      ),
  });
  const source = createStrictChain({
    chainId: 2,
    addresses: { walletRoot: RECIPIENT, escrow: OWN_ESCROW, delivery: RECIPIENT },
    getTime: async () => 640n,
    // CAST: only whether there is a lock matters.
    getLock: async ({ seq }) => (state.finalLocks.has(seq) ? ({ state: "locked" } as never) : null),
  });
  const { payoutSearch: search } = destination;
  if (!search) throw new Error("expected a search");
  const terms = { exposure: 50n, tiers: [], exceptions: [] };
  const deps = {
    count: {
      list: async () => counted,
      cover: async () => undefined,
      listOthers: async (ids: readonly Hex32[]) =>
        ids.filter(
          (id) => !state.signed.has(id) && !counted.some(({ deliveryId }) => deliveryId === id),
        ),
      countOther: async (payout: CountedPayout) => void counted.push(payout),
      getReadTo: async () => state.readTo,
      recordReadTo: async (_chain: number, block: bigint) => void (state.readTo = block),
    },
    rules: new Map([[2, { terms, readWorth: async () => state.worth }]]),
    chains: new Map([
      [2, source],
      [30, destination],
    ]),
    acceptedLosses: state.accepted,
    payoutWindowS: 43_200n,
    clock,
    log: silentLog,
  };
  return { state, counted, ranges, clock, watch: watchOthers(deps, { destination, search }) };
}

test("a payout that others signed counts until its lock is final [T315]", async () => {
  const { state, counted, clock, watch } = openOthers();
  state.paid.set(1n, { block: 105n, order: orderOf(1n) });
  state.paid.set(2n, { block: 106n, order: orderOf(2n) });
  state.paid.set(3n, { block: 106n, order: orderOf(3n) });
  state.finalLocks.add(2n);
  state.signed.add(idOf(3n));
  expect(watch.isClosed()).toBe(true);
  expect(await watch.poll()).toBe(false);
  expect(watch.isClosed()).toBe(false);
  expect(counted).toEqual([
    {
      deliveryId: idOf(1n),
      srcChain: 2,
      destChain: 30,
      escrow: OWN_ESCROW,
      lock: {
        commitment: WORD,
        delivery: padAddress(RECIPIENT),
        token: USDC,
        amount: 1_000n,
        minOut: 990n,
        seq: 1n,
      },
      worth: 7n,
      deadline: 44_100n,
      signedAtMs: clock.now(),
    },
  ]);
  // A minute without a look closes.
  clock.advance(60_000);
  expect(watch.isClosed()).toBe(true);
  await watch.poll();
  expect(watch.isClosed()).toBe(false);
  // A payout at the head is counted at the next look.
  state.paid.set(4n, { block: 111n, order: orderOf(4n) });
  state.head = 111n;
  await watch.poll();
  expect(counted).toHaveLength(1);
  clock.advance(5_000);
  await watch.poll();
  expect(counted.map(({ deliveryId }) => deliveryId)).toEqual([idOf(1n), idOf(4n)]);
});

test("a payout that a reorganisation hid is found among final blocks [T315]", async () => {
  const { state, counted, clock, ranges, watch } = openOthers();
  await watch.poll();
  state.paid.set(1n, { block: 104n, order: orderOf(1n) });
  clock.advance(5_000);
  await watch.poll();
  expect(counted).toEqual([]);
  state.final = 106n;
  state.head = 116n;
  clock.advance(5_000);
  await watch.poll();
  expect(counted).toHaveLength(1);
  expect(ranges).toEqual([
    [95n, 100n],
    [101n, 110n],
    [101n, 106n],
    [111n, 116n],
  ]);
});

test("without a price a payout counts as the whole exposure, and one from another escrow counts [T315]", async () => {
  const { state, counted, watch } = openOthers();
  state.worth = null;
  state.finalLocks.add(1n);
  state.paid.set(1n, { block: 101n, order: orderOf(1n, { escrow: FOREIGN_ESCROW }) });
  // Its chain has no early payouts here.
  state.paid.set(2n, { block: 101n, order: orderOf(2n, { srcChain: 10 }) });
  await watch.poll();
  expect(counted).toMatchObject([{ deliveryId: idOf(1n), worth: 50n, escrow: FOREIGN_ESCROW }]);
});

test("a payout whose order cannot be read closes early payouts, also after a restart [T315]", async () => {
  const { state, counted, watch } = openOthers();
  state.paid.set(1n, { block: 98n, order: null });
  await watch.poll();
  expect([watch.isClosed(), counted, state.readTo]).toEqual([true, [], null]);
  // The look that accepts it begins anew.
  const again = openOthers();
  again.state.paid.set(1n, { block: 98n, order: null });
  again.state.accepted.add(idOf(1n));
  await again.watch.poll();
  expect([again.watch.isClosed(), again.state.readTo]).toEqual([false, 100n]);
});

test("a restart continues where the last look ended, in parts that the nodes allow [T315]", async () => {
  const { state, counted, ranges, watch } = openOthers({ readTo: 40n });
  state.rangeMax = 300n;
  state.final = 1_000n;
  state.head = 1_004n;
  state.paid.set(1n, { block: 500n, order: orderOf(1n) });
  // Parts of 1,000 and of 500 blocks are too wide.
  await expect(watch.poll()).rejects.toMatchObject({ code: "RPC_UNAVAILABLE" });
  await expect(watch.poll()).rejects.toMatchObject({ code: "RPC_UNAVAILABLE" });
  expect(watch.isClosed()).toBe(true);
  expect(await watch.poll()).toBe(false);
  expect([watch.isClosed(), counted.length, state.readTo]).toEqual([false, 1, 1_000n]);
  expect(ranges[0]).toEqual([41n, 290n]);
  expect(ranges.at(-1)?.[1]).toBe(1_004n);
});
