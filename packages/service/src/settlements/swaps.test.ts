/** Ledger lines of a pool swap: each token sums to zero by itself. */
import { sql } from "kysely";
import { describe, expect, test } from "vitest";
import { hashOf } from "../../test/support/doubles.ts";
import { type Desk, openDesk } from "../../test/support/settlement-desk.ts";
import { assert } from "../core/assert.ts";
import { type Hex32, NATIVE_TOKEN, toHex32 } from "../core/hex.ts";
import { followCompleted } from "./followers/completed.ts";
import { recordDelivery } from "./store/sweep.ts";

/** Opens a deposit whose sweep is mined and whose destination token is another one. */
async function openSwapped() {
  const desk = await openDesk();
  desk.route.waitsForFinality = false;
  const address = await desk.issue("0x0c");
  desk.state.balance = 1_000n;
  await desk.arrive(address, { amount: 1_000n, block: 90n });
  await desk.poll();
  desk.state.balance = 0n;
  desk.state.swept = 1_000n;
  desk.state.swapFee = 3n;
  await desk.mine("sweep:", true, "mined");
  // The desk issues addresses for one token only; nothing derives from this row any more.
  await sql`update addresses set dest_token = ${NATIVE_TOKEN}`.execute(desk.db);
  desk.route.pair = { ...desk.route.pair, destToken: NATIVE_TOKEN };
  return desk;
}

async function readAccounts({ db }: Desk) {
  const { rows } = await sql<{ account: string; token: string; amount: string }>`
    select account, token, sum(amount)::text as amount from ledger_lines
     where account <> 'wallet' and account <> 'external' and account <> 'transit'
     group by account, token having sum(amount) <> 0 order by account, token`.execute(db);
  return rows.map(({ account, token, amount }) => {
    return `${account} ${token === NATIVE_TOKEN ? "coin" : "token"} ${amount}`;
  });
}

/** Returns how many completed settlements of the desk's route the durations count, those of other tests included. */
async function countCompleted({ deps, route }: Desk): Promise<number> {
  const { values } = await deps.metrics.settlementSeconds.get();
  const count = values.find(
    ({ metricName, labels }) =>
      metricName?.endsWith("_count") && labels.chain === "ethereum" && labels.route === route.kind,
  );
  return count?.value ?? 0;
}

test("the amounts of a pool swap are posted to a ledger account of the settlement", async () => {
  const desk = await openSwapped();
  const before = await countCompleted(desk);
  await desk.poll();
  expect(await readAccounts(desk)).toEqual(["in_flight token 1000"]);
  desk.state.delivery = { kind: "delivered", txHash: hashOf("sweep:"), amount: 77n };
  await desk.poll();
  expect((await desk.swaps()).map(({ status }) => status)).toEqual(["completed"]);
  expect(await countCompleted(desk)).toBe(before + 1);
  expect(await readAccounts(desk)).toEqual([
    "delivered coin 77",
    "fees token 3",
    "swapped coin -77",
    "swapped token 997",
  ]);
});

test("the workers of a route are woken for what a sweep left them, and only then", async () => {
  const desk = await openSwapped();
  expect(desk.state.wokenDeliveries).toBe(0);
  await desk.poll();
  expect(desk.state.wokenDeliveries).toBe(1);
  const delivered = await openSwapped();
  delivered.route.deliversBySweep = true;
  await delivered.poll();
  expect(delivered.state.wokenDeliveries).toBe(0);
});

test("a pool swap without a fee is posted too", async () => {
  const desk = await openSwapped();
  desk.state.swapFee = 0n;
  desk.state.delivery = { kind: "delivered", txHash: hashOf("sweep:"), amount: 77n };
  await desk.poll();
  expect(await readAccounts(desk)).toEqual([
    "delivered coin 77",
    "swapped coin -77",
    "swapped token 1000",
  ]);
});

test("a sweep mined again in another block is read again, including its pool swap fee", async () => {
  const desk = await openSwapped();
  await desk.poll();
  desk.state.block = 101n;
  desk.state.blockHash = toHex32(hashOf("next"));
  desk.state.swept = 700n;
  desk.state.swapFee = 2n;
  desk.state.balance = 300n;
  await desk.mine("sweep:", true, "mined");
  desk.state.delivery = { kind: "delivered", txHash: hashOf("sweep:"), amount: 54n };
  await desk.poll();
  await desk.poll();
  expect(await readAccounts(desk)).toEqual([
    "delivered coin 54",
    "fees token 2",
    "swapped coin -54",
    "swapped token 698",
  ]);
});

test("a completed settlement takes over the final amounts of its sweep, once, after a reorg", async () => {
  const desk = await openSwapped();
  desk.route.deliversBySweep = true;
  desk.state.delivery = { kind: "delivered", txHash: hashOf("sweep:"), amount: 77n };
  await desk.poll();
  desk.state.block = 101n;
  desk.state.blockHash = toHex32(hashOf("next"));
  desk.state.swept = 1_200n;
  desk.state.swapFee = 4n;
  await desk.mine("sweep:", true, "final");
  desk.state.delivery = { kind: "delivered", txHash: hashOf("another sweep"), amount: 90n };
  await followCompleted(desk.deps, 2);
  const row = await desk.db.selectFrom("settlements").selectAll().executeTakeFirstOrThrow();
  expect(row).toMatchObject({
    delivered_amount: "90",
    delivery_tx_hash: hashOf("another sweep"),
  });
  expect((await desk.swaps()).map(({ status }) => status)).toEqual(["completed"]);
  const settled = ["delivered coin 90", "fees token 4", "swapped coin -90", "swapped token 1196"];
  expect(await readAccounts(desk)).toEqual(settled);
  // Only once: final amounts cannot change.
  const change = desk.db.updateTable("settlements").set({ delivered_amount: 91n }).execute();
  await expect(change).rejects.toThrow("is terminal and cannot change");
  await followCompleted(desk.deps, 2);
  expect(await readAccounts(desk)).toEqual(settled);
});

test("a sweep that finally reverts leaves nothing in the ledger, not even its fee", async () => {
  const desk = await openSwapped();
  desk.route.deliversBySweep = true;
  desk.state.delivery = { kind: "delivered", txHash: hashOf("sweep:"), amount: 77n };
  await desk.poll();
  expect((await desk.swaps()).map(({ status }) => status)).toEqual(["completed"]);
  expect(await readAccounts(desk)).not.toEqual([]);
  await desk.mine("sweep:", false, "final");
  await followCompleted(desk.deps, 2);
  expect(await readAccounts(desk)).toEqual([]);
});

test("the route records the new amount when a reorg changes a sweep that it delivers separately [T260]", async () => {
  const desk = await openSwapped();
  desk.state.delivery = { kind: "delivered", txHash: hashOf("mint"), amount: 77n };
  await desk.poll();
  const recorded: bigint[] = [];
  desk.route.recordSweep = async (_tx, { sweep }) => void recorded.push(sweep.amount);
  // Another block at the same height.
  desk.state.blockHash = toHex32(hashOf("other"));
  desk.state.swept = 1_200n;
  await desk.mine("sweep:", true, "final");
  await followCompleted(desk.deps, 2);
  await followCompleted(desk.deps, 2);
  expect(recorded).toEqual([1_200n]);
  const row = await desk.db.selectFrom("settlements").selectAll().executeTakeFirstOrThrow();
  expect(row).toMatchObject({ swept_amount: "1200", swept_block: 100n, delivered_amount: "77" });
});

describe("another delivery, made after a reorg undid the one that completed the settlement,", () => {
  async function openCompleted() {
    const desk = await openSwapped();
    desk.state.delivery = { kind: "delivered", txHash: hashOf("mint"), amount: 77n };
    await desk.poll();
    const [swap] = await desk.swaps();
    assert(swap, "the deposit has a settlement");
    const deliver = (deliveryId: Hex32 | null, amount = 76n, txHash = hashOf("another mint")) => {
      const delivered = { settlementId: swap.id, deliveryId, txHash, amount };
      const nowMs = desk.clock.now();
      return desk.db.transaction().execute((tx) => recordDelivery(tx, delivered, nowMs));
    };
    const read = () =>
      desk.db
        .selectFrom("settlements")
        .select(["status", "delivered_amount", "delivery_tx_hash"])
        .executeTakeFirstOrThrow();
    return { ...desk, desk, deliver, read };
  }

  test("is the one that the record shows and the ledger has [T299]", async () => {
    const { desk, deliver, read } = await openCompleted();
    await deliver(null);
    expect(await read()).toEqual({
      status: "completed",
      delivered_amount: "76",
      delivery_tx_hash: hashOf("another mint"),
    });
    expect(await readAccounts(desk)).toEqual([
      "delivered coin 76",
      "fees token 3",
      "swapped coin -76",
      "swapped token 997",
    ]);
  });

  test("changes nothing if it pays another lock [T299]", async () => {
    const { deliver, read } = await openCompleted();
    const before = await read();
    await deliver(toHex32(hashOf("lock")));
    expect(await read()).toEqual(before);
  });

  test("cannot be of another amount in the same transaction [T299]", async () => {
    const { deliver } = await openCompleted();
    const sameTransaction = deliver(null, 76n, hashOf("mint"));
    await expect(sameTransaction).rejects.toThrow("is terminal and cannot change");
  });
});

test("a delivery that is recorded meanwhile fails the completion by the one before [T299]", async () => {
  const desk = await openSwapped();
  const [swap] = await desk.swaps();
  assert(swap, "the deposit has a settlement");
  desk.state.delivery = { kind: "delivered", txHash: hashOf("mint"), amount: 77n };
  const another = { txHash: hashOf("another mint"), amount: 76n };
  // A completion reads the delivery first, then the balance.
  desk.state.meanwhile = async () => {
    desk.state.meanwhile = async () => {};
    desk.state.delivery = { kind: "delivered", ...another };
    const delivered = { settlementId: swap.id, deliveryId: null, ...another };
    await desk.db.transaction().execute((tx) => recordDelivery(tx, delivered, desk.clock.now()));
  };
  await desk.poll();
  await desk.poll();
  const row = await desk.db.selectFrom("settlements").selectAll().executeTakeFirstOrThrow();
  expect(row).toMatchObject({ status: "completed", delivered_amount: "76" });
});
