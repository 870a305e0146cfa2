/** Sweeps in parts. */
import { sql } from "kysely";
import { describe, expect, test } from "vitest";
import { hashOf } from "../../test/support/doubles.ts";
import { type Desk, openDesk } from "../../test/support/settlement-desk.ts";
import type { DepositAddress } from "../addresses/index.ts";
import { createSettlementsPoll } from "./advance.ts";
import { followCompleted } from "./followers/completed.ts";
import { sizePart } from "./part.ts";

describe("the amount of a part", () => {
  test.each([
    ["nothing where the route takes the whole balance", 1_000n, 1_000n, null],
    ["as much as the route takes", 1_000n, 400n, 400n],
    ["less, so that the rest is worth a sweep", 1_000n, 950n, 900n],
    ["nothing where the part would be too small", 1_000n, 99n, null],
    ["nothing of a balance that is not worth two sweeps", 199n, 150n, null],
    ["half of a balance that is worth just two", 200n, 150n, 100n],
  ])("is %s", (_, balance, most, amount) => {
    expect(sizePart({ balance, most, least: 100n })).toBe(amount);
  });
});

/** Opens a desk whose final balance is the sum of deposits in blocks 40, 41 and so on. */
async function openWith(amounts: readonly bigint[]) {
  const desk = await openDesk();
  const address = await desk.issue("0x01");
  for (const [index, amount] of amounts.entries()) {
    desk.state.balance += amount;
    await desk.arrive(address, { amount, block: 40n + BigInt(index) });
  }
  desk.state.held = { amount: desk.state.balance, asOf: 50n };
  return { desk, address };
}

const pollSoon = async ({ clock, deps }: Desk) => {
  clock.advance(2_000);
  await createSettlementsPoll(deps, 2)();
};

/** Mines the newest order and delivers it. */
async function finish(desk: Desk) {
  const { state } = desk;
  const ordered = state.ordered.at(-1);
  if (ordered?.asOf === undefined) throw new Error("expected an order");
  state.swept = ordered.amount;
  state.upTo = ordered.asOf;
  await desk.mine("sweep:");
  state.balance -= ordered.amount;
  state.held = { amount: state.balance, asOf: 50n };
  state.delivery = { kind: "delivered", txHash: hashOf("paid"), amount: ordered.amount };
  await pollSoon(desk);
  state.delivery = { kind: "waiting" };
}

const takersOf = async (desk: Desk) => {
  const ids = (await desk.swaps()).map(({ id }) => id);
  return (await desk.deposits()).map(({ settlement_id }) => ids.indexOf(settlement_id ?? ""));
};

describe("a balance above the capacity of its route", () => {
  test("waits one try and then arrives in parts, each deposit with the part that takes its last unit [T170]", async () => {
    const { desk } = await openWith([300n, 300n, 400n]);
    desk.state.capacity = 450n;
    await desk.poll();
    expect(await desk.swaps()).toMatchObject([
      { status: "failed_swap", error: { code: "INSUFFICIENT_BALANCE" } },
    ]);
    expect(desk.state.ordered.filter(({ amount }) => amount < 1_000n)).toEqual([]);
    const parts = [];
    for (let polls = 0; polls < 12 && desk.state.balance > 0n; polls += 1) {
      await desk.poll();
      const swaps = await desk.swaps();
      if (swaps.at(-1)?.status !== "swapping") continue;
      await finish(desk);
      parts.push(desk.state.ordered.at(-1));
    }
    expect(parts).toEqual([
      { amount: 450n, asOf: 40n },
      { amount: 450n, asOf: 41n },
      { amount: 100n, asOf: 50n },
    ]);
    const rows = desk.db.selectFrom("settlements").select(["status", "swept_amount"]);
    expect(await rows.orderBy("created_at").execute()).toEqual([
      { status: "completed", swept_amount: "450" },
      { status: "completed", swept_amount: "450" },
      { status: "completed", swept_amount: "100" },
    ]);
    expect(await takersOf(desk)).toEqual([0, 1, 2]);
  });

  test("keeps the rest above the minimum, and above twice the chain's floor [T170]", async () => {
    const { desk } = await openWith([1_000n]);
    desk.state.capacity = 950n;
    Object.assign(desk.state, { minimums: { token: 10n, floor: 150n } });
    await desk.poll();
    await desk.poll();
    expect(desk.state.ordered.at(-1)).toEqual({ amount: 700n, asOf: 39n });
  });

  test("waits while the route takes less than a minimum", async () => {
    const { desk } = await openWith([1_000n]);
    desk.state.capacity = 99n;
    for (let polls = 0; polls < 4; polls += 1) await desk.poll();
    expect(await desk.swaps()).toMatchObject([{ status: "failed_swap", retryCount: 4 }]);
    desk.state.capacity = 100n;
    await desk.poll();
    expect(desk.state.ordered.at(-1)).toMatchObject({ amount: 100n });
  });

  test("keeps what a part takes where sweeps do not name it [T191]", async () => {
    const { desk } = await openWith([300n, 300n, 400n]);
    desk.state.held = null;
    desk.state.capacity = 450n;
    await desk.poll();
    await desk.poll();
    expect(desk.state.ordered.at(-1)).toEqual({ amount: 450n, asOf: 40n });
    desk.state.swept = 450n;
    await desk.mine("sweep:");
    desk.state.balance = 550n;
    desk.state.delivery = { kind: "delivered", txHash: hashOf("paid"), amount: 450n };
    await pollSoon(desk);
    expect(await takersOf(desk)).toEqual([0, 1, 1]);
    expect((await desk.swaps()).map(({ status }) => status)).toEqual(["completed", "pending_swap"]);
  });

  test("ends where its amount does once it is final, also where a reorg moved deposits below its planned end [T296]", async () => {
    const { desk } = await openWith([300n, 300n, 400n]);
    const { db, state } = desk;
    Object.assign(state, { held: null, capacity: 450n });
    await desk.poll();
    await desk.poll();
    expect(state.ordered.at(-1)).toEqual({ amount: 450n, asOf: 40n });
    state.swept = 450n;
    await desk.mine("sweep:");
    state.balance = 550n;
    state.delivery = { kind: "delivered", txHash: hashOf("paid"), amount: 450n };
    await pollSoon(desk);
    // The second deposit is mined again before the first one.
    await sql`update deposits set block_number = 39 where block_number = 41`.execute(db);
    await desk.mine("sweep:", true, "final");
    await followCompleted(desk.deps, 2);
    // Not before the scanner shows the sweep.
    expect(await takersOf(desk)).toEqual([1, 0, 1]);
    await sql`insert into outflows (chain_id, block_number, block_hash, log_index, wallet, token, amount, kind, tx_hash)
      select chain_id, swept_block, swept_block_hash, swept_log_index, wallet, token, 450, 'swept', swap_tx_hash
        from settlements where status = 'completed'`.execute(db);
    await followCompleted(desk.deps, 2);
    desk.clock.advance(60_000);
    await followCompleted(desk.deps, 2);
    expect(await takersOf(desk)).toEqual([0, -1, 1]);
    const { rows } =
      await sql`select sweep_final, swept_up_to from settlements order by created_at limit 1`.execute(
        db,
      );
    expect(rows).toEqual([{ sweep_final: true, swept_up_to: 39n }]);
  });

  test("leaves a later deposit to the next part when an older one, which was left out, is recorded at last [T302]", async () => {
    const { desk, address } = await openWith([300n, 300n, 400n]);
    const { db, state } = desk;
    Object.assign(state, { held: null, capacity: 650n });
    await desk.poll();
    await desk.poll();
    expect(state.ordered.at(-1)).toEqual({ amount: 650n, asOf: 41n });
    state.swept = 650n;
    await desk.mine("sweep:", true, "final");
    state.balance = 600n;
    state.delivery = { kind: "delivered", txHash: hashOf("paid"), amount: 650n };
    await pollSoon(desk);
    await sql`insert into outflows (chain_id, block_number, block_hash, log_index, wallet, token, amount, kind, tx_hash)
      select chain_id, swept_block, swept_block_hash, swept_log_index, wallet, token, 650, 'swept', swap_tx_hash
        from settlements where status = 'completed'`.execute(db);
    await followCompleted(desk.deps, 2);
    expect(await takersOf(desk)).toEqual([0, 0, 1]);
    await desk.arrive(address, { amount: 250n, block: 39n });
    await followCompleted(desk.deps, 2);
    desk.clock.advance(60_000);
    await followCompleted(desk.deps, 2);
    expect(await takersOf(desk)).toEqual([0, 0, -1, 1]);
  });

  test("takes no credit for deposits that came after the balance was read [T261]", async () => {
    const { desk } = await openWith([300n, 300n, 400n]);
    // The node is behind the scanner.
    desk.state.block = 41n;
    desk.state.balance = 600n;
    desk.state.held = null;
    desk.state.capacity = 450n;
    await desk.poll();
    await desk.poll();
    expect(desk.state.ordered.at(-1)).toEqual({ amount: 450n, asOf: 40n });
  });

  test("takes no credit for an older deposit whose log was left out, before it is recorded [T288]", async () => {
    const { desk } = await openWith([290n]);
    // A deposit of 1,050 is in the balance, and no node has shown its log yet.
    desk.state.balance += 1_050n;
    desk.state.held = { amount: 1_340n, asOf: 50n };
    desk.state.capacity = 500n;
    await desk.poll();
    await desk.poll();
    expect(desk.state.ordered.at(-1)).toEqual({ amount: 500n, asOf: 0n });
  });

  test("takes the part from the accounts that hold it, in their order", async () => {
    const { desk } = await openWith([1_000n]);
    const sources = [300n, 400n, 300n].map((amount, index) => ({
      account: `0x${String(index).repeat(40)}` as DepositAddress["wallet"],
      amount,
    }));
    desk.state.held = { amount: 1_000n, asOf: 50n, sources };
    desk.state.capacity = 500n;
    await desk.poll();
    await desk.poll();
    const [first, second] = sources;
    expect(desk.state.ordered.at(-1)?.sources).toEqual([first, { ...second, amount: 200n }]);
  });

  test.each(["daily_cap", "burn_limit"])(
    "arrives in parts where the route's contract or its bridge sets the limit: %s [T196]",
    async (limit) => {
      const { desk } = await openWith([300n, 700n]);
      desk.state.held = null;
      desk.state.capacity = 450n;
      desk.state.limit = limit;
      await desk.poll();
      expect(await desk.swaps()).toMatchObject([
        { status: "failed_swap", error: { code: "NO_ROUTE", details: { reason: limit } } },
      ]);
      await desk.poll();
      expect(desk.state.ordered.at(-1)).toEqual({ amount: 450n, asOf: 40n });
    },
  );

  test("waits for another reason of NO_ROUTE, which a part would not end", async () => {
    const { desk } = await openWith([1_000n]);
    desk.state.capacity = 450n;
    desk.state.limit = "pool_below_price";
    for (let polls = 0; polls < 3; polls += 1) await desk.poll();
    expect(desk.state.ordered).toEqual([]);
  });
});
