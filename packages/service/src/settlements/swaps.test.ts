/** Ledger lines of a pool swap: each token sums to zero by itself. */
import { sql } from "kysely";
import { expect, test } from "vitest";
import { hashOf } from "../../test/support/doubles.ts";
import { type Desk, openDesk } from "../../test/support/settlement-desk.ts";
import { NATIVE_TOKEN, toHex32 } from "../core/hex.ts";
import { followCompleted } from "./followers/completed.ts";

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

test("the amounts of a pool swap are posted to a ledger account of the settlement", async () => {
  const desk = await openSwapped();
  await desk.poll();
  expect(await readAccounts(desk)).toEqual(["in_flight token 1000"]);
  desk.state.delivery = { kind: "delivered", txHash: hashOf("sweep:"), amount: 77n };
  await desk.poll();
  expect((await desk.swaps()).map(({ status }) => status)).toEqual(["completed"]);
  expect(await readAccounts(desk)).toEqual([
    "delivered coin 77",
    "fees token 3",
    "swapped coin -77",
    "swapped token 997",
  ]);
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
  desk.state.delivery = { kind: "delivered", txHash: hashOf("sweep:"), amount: 90n };
  await followCompleted(desk.deps, 2);
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
