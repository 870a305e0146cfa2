/** Settlements that a state of the contracts or an operator held go on soon after it ends. Against real PostgreSQL. */
import { expect, test } from "vitest";
import { type Desk, openDesk, USDC } from "../../../test/support/settlement-desk.ts";
import { formatStamp } from "../../core/stamp.ts";
import { createSettlementsPoll } from "../advance.ts";
import { endPause, startPause } from "../operator/pauses.ts";
import { createHeldPoll } from "./held.ts";

/** Opens deposits of 1,000 base units. */
async function openDeposits(count: number, { hasCode = true } = {}): Promise<Desk> {
  const desk = await openDesk();
  desk.state.hasCode = hasCode;
  desk.state.balance = 1_000n;
  for (let nr = 0; nr < count; nr++) {
    const address = await desk.issue(`0x${(nr + 16).toString(16)}`);
    await desk.arrive(address, { amount: 1_000n, block: 5n });
  }
  return desk;
}

/** Defers the settlements until the longest delay, for a minute of which they wait already. */
async function defer(desk: Desk): Promise<void> {
  for (let nr = 0; nr < 8; nr++) await desk.poll();
  desk.clock.advance(60_000);
}

const countDue = async (desk: Desk) => {
  const due = await desk.db
    .selectFrom("settlements")
    .select("id")
    .where("next_check_at", "<=", formatStamp(desk.clock.now()))
    .execute();
  return due.length;
};

test.each(["IsPaused", "NotSealed", "TooFewAttestors", "NotRelayer", "NotRoute"])(
  "a settlement that %s held is retried when the contracts allow it, and not before [T235]",
  async (reason) => {
    const desk = await openDeposits(2);
    desk.state.simulation = { ok: false, reason };
    await defer(desk);
    const [before] = await desk.swaps();
    expect(before).toMatchObject({ error: { code: "NO_ROUTE", details: { reason } } });
    const poll = createHeldPoll(desk.deps, 2);
    await poll();
    expect(await countDue(desk)).toBe(0);
    // One read for both settlements.
    expect(desk.state.asked).toEqual([reason]);
    desk.state.simulation = { ok: true, gas: 1n };
    await poll();
    expect(await countDue(desk)).toBe(2);
    await createSettlementsPoll(desk.deps, 2)();
    expect(await desk.swaps()).toMatchObject([{ status: "swapping" }, { status: "swapping" }]);
  },
);

test.each([
  ["deployment", { hasCode: false, goesOn: "deploying" }],
  ["sweep", { hasCode: true, goesOn: "swapping" }],
])(
  "a %s that lacked gas is retried when its lane is refilled, and not before [T235]",
  async (_, { hasCode, goesOn }) => {
    const desk = await openDeposits(2, { hasCode });
    desk.state.laneBalance = 7n;
    await defer(desk);
    const [before] = await desk.swaps();
    const details = { reason: "gas", chainId: 2, balance: "7" };
    expect(before).toMatchObject({ error: { code: "INSUFFICIENT_BALANCE", details } });
    const poll = createHeldPoll(desk.deps, 2);
    await poll();
    expect(await countDue(desk)).toBe(0);
    // Too little still: one try, after which its balance is the new measure.
    desk.state.laneBalance = 8n;
    await poll();
    expect(await countDue(desk)).toBe(2);
    await createSettlementsPoll(desk.deps, 2)();
    desk.clock.advance(60_000);
    await poll();
    expect(await countDue(desk)).toBe(0);
    desk.state.laneBalance = 100n;
    await poll();
    expect(await countDue(desk)).toBe(2);
    await createSettlementsPoll(desk.deps, 2)();
    expect(await desk.swaps()).toMatchObject([{ status: goesOn }, { status: goesOn }]);
  },
);

test("nodes that disagree do not have a settlement deferred with every poll [T235]", async () => {
  const desk = await openDeposits(1);
  desk.state.simulation = { ok: false, reason: "IsPaused" };
  await defer(desk);
  Object.assign(desk.deps.chains.get(2)?.wallets ?? {}, { isRefused: async () => false });
  const poll = createHeldPoll(desk.deps, 2);
  for (let second = 0; second < 60; second += 5) {
    await poll();
    await createSettlementsPoll(desk.deps, 2)();
    desk.clock.advance(5_000);
  }
  const [swap] = await desk.swaps();
  expect(swap?.retryCount).toBeLessThanOrEqual(8 + 5);
});

test("a settlement that a take-back held is retried after its cancellation [T235]", async () => {
  const desk = await openDeposits(1);
  desk.state.simulation = { ok: false, reason: "TakeBackPending" };
  desk.state.announcedAt = 5n;
  await defer(desk);
  const poll = createHeldPoll(desk.deps, 2);
  await poll();
  expect(await countDue(desk)).toBe(0);
  desk.state.announcedAt = null;
  await poll();
  expect(await countDue(desk)).toBe(1);
});

test("a raised daily cap retries as many settlements as it covers, once a minute [T235]", async () => {
  const desk = await openDeposits(3);
  desk.state.limit = "daily_cap";
  desk.state.capacity = 0n;
  await defer(desk);
  const poll = createHeldPoll(desk.deps, 2);
  await poll();
  expect(await countDue(desk)).toBe(0);
  desk.state.capacity = 2_500n;
  await poll();
  expect(await countDue(desk)).toBe(2);
  desk.clock.advance(5_000);
  await poll();
  expect(await countDue(desk)).toBe(2);
  desk.clock.advance(60_000);
  await poll();
  expect(await countDue(desk)).toBe(3);
});

test("the end of one of two pauses retries nothing, that of both everything, page by page [T235]", async () => {
  const desk = await openDeposits(60);
  const record = { operator: "ann@host", reason: "an incident" };
  const chain = { scope: "chain", chainId: 2 } as const;
  const token = { scope: "token", chainId: 2, token: USDC } as const;
  for (const target of [chain, token]) await startPause(desk.deps, target, record);
  while (await createSettlementsPoll(desk.deps, 2)()) continue;
  expect(await countDue(desk)).toBe(0);
  const poll = createHeldPoll(desk.deps, 2);
  const end = (target: typeof chain | typeof token) =>
    endPause(desk.db, target, {
      operator: "ann@host",
      reason: "repaired",
      nowMs: desk.clock.now(),
    });
  await end(chain);
  expect(await poll()).toBe(false);
  expect(await countDue(desk)).toBe(0);
  await end(token);
  expect(await poll()).toBe(true);
  expect(await countDue(desk)).toBe(50);
  expect(await poll()).toBe(false);
  expect(await countDue(desk)).toBe(60);
});

test("no node is asked while nothing is held [T235]", async () => {
  const desk = await openDeposits(1);
  await createHeldPoll(desk.deps, 2)();
  expect(desk.state.asked).toEqual([]);
});
