/** Deposits of one block that open settlements, against real PostgreSQL. */
import { expect, test } from "vitest";
import { hashOf } from "../../../test/support/doubles.ts";
import { type Desk, openDesk, USDC } from "../../../test/support/settlement-desk.ts";
import type { DepositAddress } from "../../addresses/index.ts";
import { toHex32 } from "../../core/hex.ts";
import type { ArrivedValue } from "../../deposits/index.ts";
import { acceptArrivals } from "./accept-arrivals.ts";

const AMOUNT = 1_000n;

const always = async () => undefined;

const arrivalAt = (address: DepositAddress, blockNumber = 90n) => {
  const arrived: ArrivedValue = {
    chainId: 2,
    wallet: address.wallet,
    token: USDC,
    blockNumber,
    blockHash: toHex32(hashOf(`block ${blockNumber}`)),
    transfers: [
      {
        from: address.wallet,
        amount: AMOUNT,
        txHash: hashOf(`${address.wallet} ${blockNumber}`),
        logIndex: 1,
        ordinal: 0,
      },
    ],
  };
  return { arrived, address };
};

/** Opens a desk with addresses whose wallets hold a deposit each. */
async function open(count: number) {
  const desk = await openDesk();
  desk.state.balance = AMOUNT;
  Object.assign(desk.deps.chains.get(2) ?? {}, {
    getHead: async () => ({ number: 100n, hash: hashOf("head"), parentHash: hashOf("parent") }),
    balances: {
      kind: "at_block",
      listTokenBalances: async (_: string, holdings: readonly object[]) =>
        holdings.map(() => AMOUNT),
    },
  });
  const addresses: DepositAddress[] = [];
  for (let index = 0; index < count; index++) {
    addresses.push(await desk.issue(`0x5${String(index).padStart(3, "0")}`));
  }
  return { ...desk, addresses };
}

/** Counts the transactions of the database. */
function countTransactions(desk: Desk): () => number {
  let count = 0;
  const begin = desk.deps.db.transaction.bind(desk.deps.db);
  Object.assign(desk.deps.db, {
    transaction: () => {
      count += 1;
      return begin();
    },
  });
  return () => count;
}

const listEvents = ({ db }: Desk) =>
  db.selectFrom("events").select(["data", "created_at"]).orderBy("created_at").execute();

test("150 deposits of one block take two transactions, and each has settlement and event", async () => {
  const desk = await open(150);
  const count = countTransactions(desk);
  const arrivals = desk.addresses.map((address) => arrivalAt(address));
  await acceptArrivals(desk.deps, arrivals, always);
  expect(count()).toBe(2);
  const rows = await desk.db
    .selectFrom("settlements")
    .select(["id", "wallet", "created_at"])
    .orderBy("wallet")
    .execute();
  expect(rows.map(({ wallet }) => wallet)).toEqual(
    desk.addresses.map(({ wallet }) => wallet).toSorted(),
  );
  const deposits = await desk.deposits();
  expect(deposits.map(({ wallet, settlement_id: id }) => `${wallet} ${id}`).toSorted()).toEqual(
    rows.map(({ wallet, id }) => `${wallet} ${id}`).toSorted(),
  );
  expect(new Set(rows.map((row) => row.created_at)).size).toBe(150);
  const events = await listEvents(desk);
  expect(events).toHaveLength(150);
  expect(events.every(({ data }) => Object(data).queued === true)).toBe(true);
  await acceptArrivals(desk.deps, arrivals, always);
  expect(await desk.deposits()).toHaveLength(150);
  expect(await listEvents(desk)).toHaveLength(150);
});

test("a deposit at a holding with an open settlement joins it, beside others that open theirs", async () => {
  const desk = await open(3);
  const [first] = desk.addresses;
  if (first) await acceptArrivals(desk.deps, [arrivalAt(first)], always);
  const arrivals = desk.addresses.map((address) => arrivalAt(address, 91n));
  await acceptArrivals(desk.deps, arrivals, always);
  expect(await desk.swaps()).toHaveLength(3);
  const ofFirst = (await desk.deposits()).filter(({ wallet }) => wallet === first?.wallet);
  expect(new Set(ofFirst.map(({ settlement_id: id }) => id)).size).toBe(1);
});

test("deposits beyond the quota of open settlements wait, and those before them settle", async () => {
  const desk = await open(5);
  await desk.db.updateTable("integrators").set({ open_settlements_max: 3 }).execute();
  await acceptArrivals(
    desk.deps,
    desk.addresses.map((address) => arrivalAt(address)),
    always,
  );
  expect(await desk.swaps()).toHaveLength(3);
  const deposits = await desk.deposits();
  expect(deposits.map((row) => row.ignored_reason).toSorted()).toEqual(
    [null, null, null, "enqueue_error", "enqueue_error"].toSorted(),
  );
});

test("earlier deposits of a holding that had no settlement are settled with the new ones", async () => {
  const desk = await open(2);
  const [first] = desk.addresses;
  await desk.db.updateTable("integrators").set({ open_settlements_max: 0 }).execute();
  if (first) await acceptArrivals(desk.deps, [arrivalAt(first)], always);
  expect(await desk.swaps()).toHaveLength(0);
  await desk.db.updateTable("integrators").set({ open_settlements_max: 9 }).execute();
  await acceptArrivals(
    desk.deps,
    desk.addresses.map((address) => arrivalAt(address, 91n)),
    always,
  );
  const ofFirst = (await desk.deposits()).filter(({ wallet }) => wallet === first?.wallet);
  const ids = new Set(ofFirst.map(({ settlement_id: id }) => id));
  expect(ofFirst).toHaveLength(2);
  expect([...ids]).toEqual([expect.any(String)]);
});

test("nothing is recorded if the premise of the block no longer holds", async () => {
  const desk = await open(2);
  const arrivals = desk.addresses.map((address) => arrivalAt(address));
  const moved = async () => {
    throw new Error("the cursor moved");
  };
  await expect(acceptArrivals(desk.deps, arrivals, moved)).rejects.toThrow("the cursor moved");
  expect(await desk.deposits()).toEqual([]);
  expect(await desk.swaps()).toEqual([]);
});
