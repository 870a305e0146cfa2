/** The arrivals of one block, against real PostgreSQL. */
import { describe, expect, test } from "vitest";
import { hashOf } from "../../../test/support/doubles.ts";
import { type Desk, openDesk, USDC } from "../../../test/support/settlement-desk.ts";
import type { DepositAddress } from "../../addresses/index.ts";
import { toHex32 } from "../../core/hex.ts";
import type { ArrivedValue } from "../../deposits/index.ts";
import { acceptArrivals } from "./accept-arrivals.ts";

const BLOCK = 90n;

const always = async () => undefined;

/** Returns a transfer to an address in the block, with the balance after it. */
function arrivalAt(address: DepositAddress, amount: bigint, balance?: bigint) {
  const arrived: ArrivedValue = {
    chainId: 2,
    wallet: address.wallet,
    token: USDC,
    blockNumber: BLOCK,
    blockHash: toHex32(hashOf("block")),
    transfers: [
      { from: address.wallet, amount, txHash: hashOf(address.wallet), logIndex: 1, ordinal: 0 },
    ],
    ...(balance !== undefined && { balance }),
  };
  return { arrived, address };
}

const issueAll = (desk: Desk, count: number) =>
  Promise.all(
    Array.from({ length: count }, (_, index) => desk.issue(`0x5${String(index).padStart(3, "0")}`)),
  );

/** Makes every request to the chain an error. */
function forbidRequests({ deps }: Desk): void {
  const refuse = () => {
    throw new Error("a request to the chain");
  };
  Object.assign(deps.chains.get(2) ?? {}, { findBalance: refuse, getHead: refuse });
  Object.assign(deps.chains.get(2)?.wallets ?? {}, { hasCode: refuse });
}

test("a deposit that a server has not seen yet settles at once [T263]", async () => {
  const desk = await openDesk();
  const address = await desk.issue("0x51");
  // Of the servers behind the URL one is behind the deposit's block.
  Object.assign(desk.deps.chains.get(2) ?? {}, {
    findBalance: async (_token: string, _wallet: string, at: unknown = "latest") =>
      at === "latest" ? 0n : 1_000n,
  });
  await acceptArrivals(desk.deps, [arrivalAt(address, 1_000n)], always);
  expect(await desk.swaps()).toHaveLength(1);
  expect(await desk.deposits()).toMatchObject([{ queued: true, ignored_reason: null }]);
});

describe("dust in one block", () => {
  test("is recorded without a request, each with its event [T144]", async () => {
    const desk = await openDesk();
    const addresses = await issueAll(desk, 300);
    forbidRequests(desk);
    const arrivals = addresses.map((address) => arrivalAt(address, 99n, 99n));
    await acceptArrivals(desk.deps, arrivals, always);
    // Again, as by another scanner.
    readAtHead(desk, new Map(), 99n);
    Object.assign(desk.deps.chains.get(2)?.wallets ?? {}, { hasCode: always });
    await acceptArrivals(desk.deps, arrivals, always);
    const deposits = await desk.deposits();
    expect(new Set(deposits.map(({ wallet }) => wallet)).size).toBe(300);
    expect(deposits).toHaveLength(300);
    expect(deposits).toEqual(
      deposits.map((row) => ({
        ...row,
        queued: false,
        ignored_reason: "below_token_min",
        settlement_id: null,
        amount: "99",
      })),
    );
    expect(deposits.every(({ recheck_at }) => recheck_at !== null)).toBe(true);
    const events = await desk.events();
    expect(new Set(events.map(({ data }) => data.walletAddress)).size).toBe(300);
    expect(await desk.swaps()).toEqual([]);
  });

  test("joins the settlement of its holding, and a balance at the minimum gets one [T144]", async () => {
    const desk = await openDesk();
    const [active, enough, dusted] = await issueAll(desk, 3);
    if (!active || !enough || !dusted) throw new Error("expected three addresses");
    desk.state.balance = 500n;
    await desk.arrive(active, { amount: 500n, block: 80n });
    readAtHead(desk, new Map([[enough.wallet, 100n]]), 500n);
    await acceptArrivals(
      desk.deps,
      // The balance of the block is dust only where nothing arrived before.
      [arrivalAt(active, 1n, 1n), arrivalAt(enough, 60n, 100n), arrivalAt(dusted, 60n, 60n)],
      always,
    );
    const swaps = await desk.swaps();
    expect(swaps.map(({ walletAddress, amount }) => [walletAddress, amount])).toEqual([
      [active.wallet, "500"],
      [enough.wallet, "100"],
    ]);
    const settled = (await desk.deposits()).map(({ wallet, settlement_id }) => [
      wallet,
      swaps.find(({ id }) => id === settlement_id)?.walletAddress,
    ]);
    expect(new Map(settled.map(([wallet, swap]) => [wallet, swap]))).toEqual(
      new Map([
        [active.wallet, active.wallet],
        [enough.wallet, enough.wallet],
        [dusted.wallet, undefined],
      ]),
    );
    expect(settled).toHaveLength(4);
  });

  test("stays recorded when a later set fails, and only the rest is repeated [T144]", async () => {
    const desk = await openDesk();
    forbidRequests(desk);
    const arrivals = (await issueAll(desk, 300)).map((address) => arrivalAt(address, 5n, 5n));
    let sets = 0;
    const failing = async () => {
      sets += 1;
      if (sets === 2) throw new Error("the database is gone");
    };
    await expect(acceptArrivals(desk.deps, arrivals, failing)).rejects.toThrow("is gone");
    const before = await desk.deposits();
    expect(before.length).toBe(250);
    await acceptArrivals(desk.deps, arrivals.slice(250), always);
    expect(await desk.deposits()).toHaveLength(300);
    expect(await desk.events()).toHaveLength(300);
  });
});

test("balances that were not read at the block are read together in the newest one [T144]", async () => {
  const desk = await openDesk();
  const addresses = await issueAll(desk, 40);
  const reads = readAtHead(desk, new Map(), 99n);
  const arrivals = addresses.map((address) => arrivalAt(address, 99n));
  await acceptArrivals(desk.deps, arrivals, always);
  expect(reads).toEqual([40]);
  expect(await desk.deposits()).toHaveLength(40);
});

/** Makes the chain answer balances of its newest block, and returns how many each request reads. */
function readAtHead(
  { deps }: Desk,
  balances: ReadonlyMap<string, bigint>,
  others: bigint,
): readonly number[] {
  const reads: number[] = [];
  const head = {
    number: BLOCK + 5n,
    hash: toHex32(hashOf("head")),
    parentHash: toHex32(hashOf("parent")),
  };
  Object.assign(deps.chains.get(2) ?? {}, {
    getHead: async () => head,
    findBalance: () => {
      throw new Error("a request of one balance");
    },
    balances: {
      kind: "at_block",
      listTokenBalances: async (hash: string, holdings: readonly { wallet: string }[]) => {
        expect(hash).toBe(head.hash);
        reads.push(holdings.length);
        return holdings.map(({ wallet }) => balances.get(wallet) ?? others);
      },
    },
  });
  return reads;
}
