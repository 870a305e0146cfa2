/** Deposits that are shown before their block is final, on a chain whose sweeps take the final balance only. */
import { describe, expect, test } from "vitest";
import { hashOf } from "../../test/support/doubles.ts";
import { openDesk, USDC } from "../../test/support/settlement-desk.ts";
import type { DepositAddress } from "../addresses/index.ts";
import { orphanAbove } from "../deposits/index.ts";
import { createSettlementsPoll } from "./advance.ts";
import { pollUnsettledDeposits } from "./intake/recheck.ts";

const CHAIN = 2;
type Desk = Awaited<ReturnType<typeof openDesk>>;

/** Polls before any retry can be due; the shortest delay is five seconds. */
const pollBeforeRetry = async ({ clock, deps }: Desk) => {
  clock.advance(2_000);
  await createSettlementsPoll(deps, CHAIN)();
};

/** Records a deposit in a block above the final one, which is 50. */
async function arriveUnfinal(desk: Desk, address: DepositAddress, amount = 1_000n) {
  desk.state.balance += amount;
  desk.state.held ??= { amount: 0n, asOf: 50n };
  await desk.arrive(address, { amount, block: 60n, tx: "a" });
}

describe("a settlement of a deposit that is not final", () => {
  test("is queued at once, waits without an error, try or retry, and is swept at finality", async () => {
    const desk = await openDesk();
    const address = await desk.issue("0x01");
    await arriveUnfinal(desk, address);
    expect((await desk.events()).map(({ data }) => data)).toMatchObject([{ queued: true }]);
    for (let polls = 0; polls < 30; polls += 1) await pollBeforeRetry(desk);
    expect(await desk.swaps()).toMatchObject([
      { status: "pending_swap", retryCount: 0, error: null },
    ]);
    expect(desk.state.prepared).toEqual([]);
    expect(await desk.events()).toHaveLength(1);
    desk.state.held = { amount: 1_000n, asOf: 60n };
    await pollBeforeRetry(desk);
    expect(await desk.swaps()).toMatchObject([{ status: "swapping", retryCount: 0 }]);
    expect(desk.state.prepared).toHaveLength(1);
  });

  test.each([
    ["below the minimum", { minimums: { token: 100n, floor: undefined } }],
    ["below the floor", { minimums: { token: undefined, floor: 1_000n } }],
    ["too little for its fees", { gas: 60n }],
  ] as const)("waits while the final balance is %s", async (_, terms) => {
    const desk = await openDesk();
    Object.assign(desk.state, terms);
    const address = await desk.issue("0x02");
    desk.state.held = { amount: 99n, asOf: 50n };
    await arriveUnfinal(desk, address, 20_000n);
    await pollBeforeRetry(desk);
    expect(await desk.swaps()).toMatchObject([{ status: "pending_swap", retryCount: 0 }]);
    desk.state.held = { amount: 20_099n, asOf: 60n };
    await pollBeforeRetry(desk);
    expect(await desk.swaps()).toMatchObject([{ status: "swapping" }]);
  });

  test("shows the error once no further deposit is pending finality", async () => {
    const desk = await openDesk();
    const address = await desk.issue("0x03");
    await arriveUnfinal(desk, address);
    desk.state.held = { amount: 99n, asOf: 60n };
    await pollBeforeRetry(desk);
    expect(await desk.swaps()).toMatchObject([
      { status: "failed_swap", error: { code: "AMOUNT_TOO_SMALL" } },
    ]);
  });

  test("pays nothing and ends when the deposit's block is orphaned [T41]", async () => {
    const desk = await openDesk();
    const address = await desk.issue("0x04");
    await arriveUnfinal(desk, address);
    await pollBeforeRetry(desk);
    await desk.db.transaction().execute((tx) => orphanAbove(tx, CHAIN, 59n, desk.clock.now()));
    await pollBeforeRetry(desk);
    expect(await desk.swaps()).toMatchObject([{ status: "failed_swap", error: { code: "REORG" } }]);
    desk.state.finalNumber = 60n;
    desk.state.held = { amount: 0n, asOf: 60n };
    for (let polls = 0; polls < 5; polls += 1) await desk.poll();
    expect(await desk.swaps()).toMatchObject([{ status: "dead", error: { code: "REORG" } }]);
    expect(desk.state.prepared).toEqual([]);
  });

  test("goes on at once when the deposit is mined again in another block, before the next retry is due", async () => {
    const desk = await openDesk();
    const address = await desk.issue("0x05");
    await arriveUnfinal(desk, address);
    await desk.db.transaction().execute((tx) => orphanAbove(tx, CHAIN, 59n, desk.clock.now()));
    // Polled until the next retry is 15 minutes away.
    for (let polls = 0; polls < 8; polls += 1) await desk.poll();
    expect(await desk.swaps()).toMatchObject([{ status: "failed_swap" }]);
    await desk.arrive(address, { amount: 1_000n, block: 61n, tx: "a" });
    desk.state.held = { amount: 1_000n, asOf: 61n };
    await pollBeforeRetry(desk);
    expect(await desk.swaps()).toMatchObject([{ status: "swapping" }]);
    expect((await desk.events()).filter(({ type }) => type === "deposit_detected")).toHaveLength(1);
    expect(await desk.deposits()).toMatchObject([{ block_number: 61n, orphaned_at: null }]);
  });

  test("is replaced by a new settlement when the deposit is mined again after it ended [V9]", async () => {
    const desk = await openDesk();
    const address = await desk.issue("0x06");
    await arriveUnfinal(desk, address);
    await desk.db.transaction().execute((tx) => orphanAbove(tx, CHAIN, 59n, desk.clock.now()));
    desk.state.finalNumber = 60n;
    desk.state.held = { amount: 0n, asOf: 60n };
    for (let polls = 0; polls < 5; polls += 1) await desk.poll();
    expect(await desk.swaps()).toMatchObject([{ status: "dead" }]);
    await desk.arrive(address, { amount: 1_000n, block: 70n, tx: "a" });
    await pollUnsettledDeposits(desk.deps, 2);
    const swaps = await desk.swaps();
    expect(swaps).toMatchObject([{ status: "dead" }, { status: "pending_swap" }]);
    expect((await desk.deposits())[0]?.settlement_id).toBe(swaps[1]?.id);
  });
});

describe("a sweep of the final balance", () => {
  test("is not delayed by a later deposit and does not take it", async () => {
    const desk = await openDesk();
    const address = await desk.issue("0x07");
    desk.state.balance = 1_000n;
    await desk.arrive(address, { amount: 1_000n, block: 40n, tx: "final" });
    desk.state.held = { amount: 1_000n, asOf: 50n };
    await arriveUnfinal(desk, address, 500n);
    await pollBeforeRetry(desk);
    const [first] = await desk.swaps();
    expect(first).toMatchObject({ status: "swapping", amount: "1000" });
    expect((await desk.deposits()).map(({ settlement_id }) => settlement_id)).toEqual([
      first?.id,
      first?.id,
    ]);

    // Mined above the second deposit's block: the block that the sweep names decides, not its own.
    desk.state.block = 62n;
    desk.state.swept = 1_000n;
    desk.state.upTo = 50n;
    await desk.mine("sweep:");
    desk.state.balance = 500n;
    desk.state.delivery = { kind: "delivered", txHash: hashOf("paid"), amount: 1_000n };
    await pollBeforeRetry(desk);
    const [done, next] = await desk.swaps();
    expect(done).toMatchObject({ status: "completed" });
    expect(next).toMatchObject({ status: "pending_swap", amount: "500" });
    expect((await desk.deposits()).map(({ settlement_id }) => settlement_id)).toEqual([
      done?.id,
      next?.id,
    ]);
    // The successor waits for finality as well.
    desk.state.held = { amount: 0n, asOf: 58n };
    await pollBeforeRetry(desk);
    expect(await desk.swaps()).toMatchObject([{}, { status: "pending_swap", error: null }]);
    expect(desk.state.prepared).toHaveLength(1);
  });
});

test("the gate checks a deposit against the newest balance, not the final one", async () => {
  const desk = await openDesk();
  const address = await desk.issue("0x08");
  desk.state.held = { amount: 0n, asOf: 50n };
  await arriveUnfinal(desk, address, 60n);
  await desk.arrive(address, { amount: 1n, block: 60n, tx: "dust" });
  expect((await desk.events()).map(({ data }) => data)).toMatchObject([
    { queued: false, ignoredReason: "below_token_min", tokenAddress: USDC },
    { queued: false },
  ]);
  desk.state.balance = 100n;
  await desk.arrive(address, { amount: 40n, block: 61n, tx: "b" });
  expect(await desk.swaps()).toHaveLength(1);
  expect(new Set((await desk.deposits()).map(({ settlement_id }) => settlement_id)).size).toBe(1);
});
