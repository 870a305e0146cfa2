/** The delivery worker over a real PostgreSQL; tests set the state of the chains. */
import { sql } from "kysely";
import { describe, expect, test } from "vitest";
import {
  createKeepingLog,
  createStrictChain,
  hashOf,
  LANE,
} from "../../../test/support/doubles.ts";
import { ID, openLocked, payoutOf, signAll } from "../../../test/support/locked-delivery.ts";
import { receiptOfSweep } from "../../../test/support/route-suite.ts";
import { RECIPIENT, USDC } from "../../../test/support/settlement-desk.ts";
import type { Effect } from "../../chains/port/index.ts";
import { assert } from "../../core/assert.ts";
import { OperatingError } from "../../core/errors.ts";
import {
  type Address,
  type Hex32,
  NATIVE_TOKEN,
  toAddress,
  toEvmAddress,
  toHex32,
} from "../../core/hex.ts";
import { recordFindings, toFinding } from "../../ledger/index.ts";
import { submitIntent } from "../../transactions/index.ts";
import { startPause } from "../../settlements/index.ts";
import { createDeliveryPolls } from "./deliver.ts";
import { swiftGauges } from "./gauges.ts";
import { createClaimCapReader } from "./claim-cap.ts";
import { createOverdueClaimsPoll } from "./overdue-claims.ts";
import { createSwiftRoute } from "./route.ts";
import { answerAttestation, listOpenRequests } from "./attestations.ts";
import { getDelivery, wakeOfAnswer, wakeOfSettlements } from "./store.ts";

test("a payout that is not final yet is looked at every 15 seconds, and at once when its lane says so", async () => {
  const { desk, deps, clock, state, settlementId, poll } = await openLocked();
  state.found = payoutOf(state.lock);
  await poll();
  await poll();
  expect((await getDelivery(desk.db, ID))?.state).toBe("delivered");
  const looks = async (times: number) => {
    state.hinted = [];
    for (let look = 0; look < times; look++) {
      clock.advance(500);
      await createDeliveryPolls(deps, 30).claims();
    }
    return state.hinted.length;
  };
  // Finality takes fifteen minutes on Ethereum: 1,800 looks at the general pace.
  expect(await looks(120)).toBeLessThanOrEqual(60_000 / 15_000);
  await desk.db.transaction().execute((tx) => wakeOfSettlements(tx, [settlementId], clock.now()));
  expect(await looks(1)).toBe(1);
});

test("a request is asked of no attestor once a planned transaction carries its signatures [T324]", async () => {
  const { desk, clock, poll } = await openLocked();
  const other = toAddress(`0x${"0b".repeat(20)}`);
  const listAsked = async () => {
    const args = { attestor: other, kinds: ["delivery", "claim"] as const, limit: 9 };
    const open = await listOpenRequests(desk.db, { ...args, nowMs: clock.now() });
    return open.map(({ id }) => id);
  };
  await poll();
  await signAll(desk.db);
  // Another attestor has not answered yet.
  expect(await listAsked()).toEqual([`delivery:${ID}:1`]);
  await poll();
  expect(await listAsked()).toEqual([]);
});

test("a lock is polled soon after it was made, and later after a twentieth of its wait, until it is final [T280]", async () => {
  const { deps, clock, state } = await openLocked();
  state.isLockFinal = false;
  /** Looks at the lock within so many milliseconds, with polls of the loop. */
  const looks = async (ms: number, everyMs: number) => {
    const before = state.timesRead;
    for (let passed = 0; passed < ms; passed += everyMs) {
      clock.advance(everyMs);
      await createDeliveryPolls(deps, 30).payouts();
    }
    return state.timesRead - before;
  };
  // A chain whose blocks are final within a second.
  expect(await looks(500, 50)).toBeGreaterThanOrEqual(4);
  // Fifteen minutes on Ethereum: 1,800 looks at the pace of the loop.
  expect(await looks(120_000, 500)).toBeLessThan(100);
  clock.advance(780_000);
  expect(await looks(60_000, 500)).toBeLessThanOrEqual(5);
});

test("an attestor's answer makes its delivery due at once", async () => {
  const { desk, deps, clock, state, poll } = await openLocked();
  await poll();
  state.hinted = [];
  await createDeliveryPolls(deps, 30).payouts();
  expect(state.hinted).toEqual([]);
  await wakeOfAnswer(desk.db, { id: ID, nowMs: clock.now() });
  await createDeliveryPolls(deps, 30).payouts();
  expect(state.hinted).not.toEqual([]);
});

describe("the search for a lock and its delivery", () => {
  test("reads our own transactions and passes them to the attestor as hints", async () => {
    const { desk, deps, settlementId, state, poll, requests } = await openLocked();
    const sweep = hashOf("sweep:");
    await poll();
    expect(state.hinted).toEqual([
      ["lock", [sweep]],
      ["delivery", [sweep]],
    ]);
    expect(await requests()).toMatchObject([{ id: `delivery:${ID}:1`, hints: [sweep] }]);

    const intent = `deliver:${ID}:1` as const;
    await desk.db.transaction().execute((tx) =>
      submitIntent(tx, deps.random, {
        chainId: 30,
        lane: LANE,
        intent,
        settlementId,
        call: { to: RECIPIENT, data: "0xde", value: 0n },
        gas: 1n,
      }),
    );
    await desk.mine(intent);
    const txHash = hashOf(intent);
    state.hinted = [];
    state.deliveredFinal = true;
    state.found = {
      deliveryId: ID,
      commitment: state.lock.commitment,
      to: RECIPIENT,
      token: USDC,
      amount: 999n,
      txHash,
      blockNumber: 90n,
    };
    await poll();
    expect((await getDelivery(desk.db, ID))?.state).toBe("delivered");
    await poll();
    expect(state.hinted.at(-1)).toEqual(["delivery", expect.arrayContaining([sweep, txHash])]);
    expect(await requests()).toMatchObject([
      { id: `claim:${ID}:1`, hints: expect.arrayContaining([sweep, txHash]) },
      { id: `delivery:${ID}:1` },
    ]);
  });
});

describe("our own payout", () => {
  /** A delivery whose payout is mined, with a receipt that pays the amount to the account. */
  async function openPaid(paid: { readonly to?: Address; readonly deliveryId?: Hex32 } = {}) {
    const opened = await openLocked();
    const { desk, deps, settlementId, state, poll } = opened;
    await poll();
    const intent = `deliver:${ID}:1` as const;
    const call = { to: RECIPIENT, data: "0xde", value: 0n } as const;
    const row = { chainId: 30, lane: LANE, intent, settlementId, call, gas: 1n };
    await desk.db.transaction().execute((tx) => submitIntent(tx, deps.random, row));
    await desk.mine(intent);
    const txHash = hashOf(intent);
    const facts = { txHash, blockHash: ID, blockNumber: 90n, succeeded: true, gasCost: 1n };
    const { commitment } = state.lock;
    const payout = { deliveryId: ID, commitment, to: RECIPIENT, token: USDC, amount: 999n };
    state.receipt = { ...facts, effects: [{ kind: "delivered", ...payout, ...paid }] };
    state.hinted = [];
    return { ...opened, txHash };
  }

  test("is recorded from its receipt, and claimed once it is paid at a final block", async () => {
    const { desk, state, poll, requests, txHash } = await openPaid();
    await poll();
    const recorded = { state: "delivered", deliveredTxHash: txHash, deliveredAmount: 999n };
    expect(await getDelivery(desk.db, ID)).toMatchObject(recorded);
    expect(state.hinted).toEqual([]);
    // The contract's state at a final block does not show it yet: it is looked for like any other.
    await poll();
    expect(state.hinted).toHaveLength(1);
    expect((await getDelivery(desk.db, ID))?.state).toBe("delivered");
    expect(await requests()).toMatchObject([{ id: `delivery:${ID}:1` }]);
    state.deliveredFinal = true;
    state.hinted = [];
    await poll();
    expect(state.hinted).toEqual([]);
    expect(await requests()).toMatchObject([
      { id: `claim:${ID}:1`, hints: expect.arrayContaining([txHash]) },
      { id: `delivery:${ID}:1` },
    ]);
  });

  test("is looked for where its receipt shows the payout of another lock", async () => {
    const { desk, state, poll } = await openPaid({ deliveryId: toHex32(`0x${"77".repeat(32)}`) });
    await poll();
    expect(state.hinted).toHaveLength(1);
    expect((await getDelivery(desk.db, ID))?.state).toBe("locked");
  });

  test("is not recorded where its receipt shows another account", async () => {
    const { desk, poll } = await openPaid({ to: toEvmAddress(`0x${"66".repeat(20)}`) });
    await poll();
    const { state, error } = (await getDelivery(desk.db, ID)) ?? {};
    expect([state, error?.code]).toEqual(["locked", "INTERNAL"]);
  });
});

describe("a lock that a reorg moved to another block", () => {
  /** A delivery whose lock is found a minute later than its row says. */
  async function openMoved() {
    const opened = await openLocked();
    const { desk, state } = opened;
    const before = state.lock.lockedAt;
    const after = before + 60n;
    state.lock = { ...state.lock, lockedAt: after };
    const rows = async () =>
      (await desk.db.selectFrom("deliveries").select(["id", "locked_at"]).execute()).map(
        ({ id, locked_at }) => [id, locked_at],
      );
    return { ...opened, before, after, rows };
  }

  test("is the same delivery, whose row takes the time of the final lock [T240]", async () => {
    const { before, after, rows, poll, requests } = await openMoved();
    expect(await rows()).toEqual([[ID, before]]);
    await poll();
    expect(await rows()).toEqual([[ID, after]]);
    expect(await requests()).toMatchObject([
      { id: `delivery:${ID}:1`, windowStart: after.toString() },
    ]);
  });

  test("is recorded again by the sweep of its new block, once [T240]", async () => {
    const { desk, deps, address, settlementId, state, before, after, rows } = await openMoved();
    const chainOf = (chainId: number) => {
      const chain = deps.chains.get(chainId);
      assert(chain, "the chain is configured");
      return chain;
    };
    const [source, destination] = [chainOf(2), chainOf(30)];
    const route = createSwiftRoute({
      db: desk.db,
      clock: desk.clock,
      source,
      destination,
      token: USDC,
      decimalsIn: 6,
      destToken: USDC,
      decimalsOut: 6,
      contract: RECIPIENT,
      pricing: null,
    });
    const { lock } = state;
    const { amount, minOut } = lock;
    const sweep = { amount, minOut, logIndex: 0, deliveryId: ID };
    const fee = { bps: 0, flat: 0n, bridge: 0n };
    const record = (lockedAt: bigint) => {
      const { wallet } = address;
      const places = { escrow: RECIPIENT, deliveryId: ID, wallet };
      const locked: Effect = { kind: "locked", ...lock, ...places, lockedAt };
      const mined = { token: USDC, contract: RECIPIENT, block: 90n };
      const receipt = receiptOfSweep({ address, amount, fee }, mined, [locked]);
      return desk.db
        .transaction()
        .execute((tx) => route.recordSweep(tx, { settlementId, address, sweep, fee, receipt }));
    };
    const versionOf = async () => (await getDelivery(desk.db, ID))?.version;
    await record(before);
    expect(await versionOf()).toBe(0);
    await record(after);
    expect(await rows()).toEqual([[ID, after]]);
    expect(await versionOf()).toBe(1);
  });

  test("is paid within the window that was signed, also if it moves afterwards [T240]", async () => {
    const { desk, state, before, after, poll, rows } = await openMoved();
    state.lock = { ...state.lock, lockedAt: before };
    await poll();
    await signAll(desk.db);
    state.lock = { ...state.lock, lockedAt: after };
    await desk.db.updateTable("deliveries").set({ locked_at: after }).execute();
    await poll();
    expect(state.paying).toMatchObject([{ windowStart: before }]);
    expect(await rows()).toEqual([[ID, after]]);
  });

  test("gets another signature when its first window is over, and no return [T240]", async () => {
    const { clock, state, before, after, poll, requests } = await openMoved();
    state.lock = { ...state.lock, lockedAt: before };
    await poll();
    // Between the ends of the two windows.
    state.lock = { ...state.lock, lockedAt: after };
    clock.advance(3_600_000 - 60_000 - 30_000);
    await poll();
    expect((await requests()).map(({ id }) => id)).toEqual([
      `delivery:${ID}:1`,
      `delivery:${ID}:2`,
    ]);
  });
});

describe("a payout by an unknown transaction", () => {
  /** A payout so many seconds after its lock, which no hint shows. */
  async function openHidden(afterS: bigint) {
    const opened = await openLocked();
    const { state } = opened;
    state.found = "unlocated";
    state.head = state.lock.lockedAt + 10_000n;
    state.hidden = {
      deliveryId: ID,
      commitment: state.lock.commitment,
      to: RECIPIENT,
      token: USDC,
      amount: 999n,
      txHash: hashOf("paid by another process"),
      blockNumber: state.lock.lockedAt + afterS,
    };
    const stateOf = async () => (await getDelivery(opened.desk.db, ID))?.state;
    return { ...opened, stateOf };
  }

  test.each([
    ["soon after its lock", 5n, 1],
    ["at the end of its window", 3_590n, 1],
    ["between", 1_700n, 6],
  ])(
    "made %s is found by a search in parts from both ends [T148]",
    async (_what, afterS, polls) => {
      const { desk, state, poll, stateOf, requests } = await openHidden(afterS);
      for (let polled = 0; polled < polls; polled++) {
        expect(await stateOf()).toBe("locked");
        await poll();
      }
      expect(await stateOf()).toBe("delivered");
      expect(await requests()).toEqual([]);

      // The receipt shows it, and the attestor gets it as its first hint.
      state.found = state.hidden;
      state.deliveredFinal = true;
      await poll();
      expect(await desk.db.selectFrom("payout_searches").selectAll().execute()).toEqual([]);
      const txHash = hashOf("paid by another process");
      expect(await requests()).toMatchObject([
        { id: `claim:${ID}:1`, hints: [txHash, hashOf("sweep:")] },
      ]);
    },
  );

  test("is searched for in smaller parts where a node gives less, and no block twice [T148]", async () => {
    const { state, poll, stateOf } = await openHidden(1_000n);
    state.partMax = 100n;
    for (let polled = 0; polled < 20 && (await stateOf()) === "locked"; polled++) await poll();
    expect(await stateOf()).toBe("delivered");
    const parts = state.searched.toSorted(([one], [other]) => (one < other ? -1 : 1));
    const overlaps = parts.filter(([, to], index) => (parts[index + 1]?.[0] ?? to + 1n) <= to);
    expect(overlaps).toEqual([]);
  });

  test("is not requested again while it is searched for", async () => {
    const { poll, stateOf, requests } = await openHidden(1_700n);
    await poll();
    expect([await stateOf(), await requests()]).toEqual(["locked", []]);
  });

  test("that no block shows is searched for again over a longer time [T148]", async () => {
    const { desk, state, poll, stateOf } = await openHidden(-100n);
    for (let polled = 0; polled < 9 && (await stateOf()) === "locked"; polled++) await poll();
    expect(await stateOf()).toBe("delivered");
    const row = await desk.db.selectFrom("payout_searches").select("rounds").executeTakeFirst();
    expect(row?.rounds).toBe(1);
    expect(state.searched.length).toBeGreaterThan(6);
  });
});

describe("a payout", () => {
  test("is not requested while no lane was a relayer at the lock, and its lock is returned in the end [V11]", async () => {
    const { desk, clock, state, poll, requests } = await openLocked();
    state.wasRelayer = false;
    await poll();
    expect(await requests()).toEqual([]);
    expect((await getDelivery(desk.db, ID))?.error).toMatchObject({
      code: "CONFIG_MISSING",
      details: { reason: "relayer_not_listed" },
    });
    clock.advance(3_600_000);
    await poll();
    expect(await requests()).toMatchObject([{ id: `return:${ID}:1` }]);
  });
});

describe("a recorded payout that a node does not show", () => {
  /** Records a payout by our own transaction, which the destination no longer shows then. */
  async function openUnshown() {
    const opened = await openLocked();
    const { desk, deps, settlementId, state, poll } = opened;
    await desk.db.transaction().execute((tx) =>
      submitIntent(tx, deps.random, {
        chainId: 30,
        lane: LANE,
        intent: `deliver:${ID}:0`,
        settlementId,
        call: { to: RECIPIENT, data: "0xde", value: 0n },
        gas: 1n,
      }),
    );
    await desk.mine("deliver:");
    state.found = {
      deliveryId: ID,
      commitment: state.lock.commitment,
      to: RECIPIENT,
      token: USDC,
      amount: 999n,
      txHash: hashOf("deliver:"),
      blockNumber: 100n,
    };
    await poll();
    expect((await getDelivery(desk.db, ID))?.state).toBe("delivered");
    state.found = null;
    return opened;
  }

  test("is polled again while that node may only be behind [T237]", async () => {
    const { desk, state, poll } = await openUnshown();
    for (const block of [null, hashOf("block")]) {
      state.blockHash = block;
      await poll();
      expect(await getDelivery(desk.db, ID)).toMatchObject({ state: "delivered" });
    }
  });

  test("is searched for again when another block is at its height [T237]", async () => {
    const { desk, state, poll } = await openUnshown();
    state.blockHash = hashOf("another block");
    await poll();
    expect(await getDelivery(desk.db, ID)).toMatchObject({
      state: "locked",
      deliveredTxHash: null,
    });
  });
});

describe("a claim of a lock that third parties can top up", () => {
  /** A final delivery whose claim the attestor has signed. */
  async function openClaim() {
    const opened = await openLocked();
    const { desk, state, poll } = opened;
    const { amount, commitment } = state.lock;
    state.lock = { ...state.lock, held: amount };
    state.found = {
      deliveryId: ID,
      commitment,
      to: RECIPIENT,
      token: USDC,
      amount: 999n,
      txHash: hashOf("paid"),
      blockNumber: 90n,
    };
    state.deliveredFinal = true;
    const sign = () => signAll(desk.db);
    await poll();
    await poll();
    await sign();
    const stateOf = async () => (await getDelivery(desk.db, ID))?.state;
    return { ...opened, sign, stateOf };
  }

  test("takes the balance and closes the lock", async () => {
    const { state, poll, stateOf } = await openClaim();
    await poll();
    expect(await stateOf()).toBe("claiming");
    expect(state.ended).toEqual([{ held: 1_000n }]);
  });

  test("takes the whole balance when the simulation finds that it grew", async () => {
    const { state, poll, stateOf } = await openClaim();
    state.simulations = [{ ok: false, reason: "NonNativeHasBalance" }];
    await poll();
    expect(await stateOf()).toBe("claiming");
    expect(state.ended).toEqual([{ held: 1_000n }, { held: 1_000n, whole: true }]);
  });

  test("takes the whole balance after a failure on the chain", async () => {
    const { desk, state, poll, sign, stateOf } = await openClaim();
    await poll();
    await desk.mine(`claim:${ID}:1`, false);
    await poll();
    expect(await stateOf()).toBe("delivered");
    await poll();
    await sign();
    state.ended = [];
    await poll();
    expect(await stateOf()).toBe("claiming");
    expect(state.ended).toEqual([{ held: 1_000n, whole: true }]);
  });

  test("is not sent when both ways would fail", async () => {
    const { state, poll, stateOf } = await openClaim();
    const frozen = { ok: false, reason: "AccountFrozen" } as const;
    state.simulations = [frozen, frozen];
    await poll();
    expect(await stateOf()).toBe("delivered");
    expect(state.ended).toHaveLength(2);
  });
});

describe("a claim that is not made", () => {
  async function openPaid() {
    const opened = await openLocked();
    const { desk, state, poll } = opened;
    state.found = {
      deliveryId: ID,
      commitment: state.lock.commitment,
      to: RECIPIENT,
      token: USDC,
      amount: 999n,
      txHash: hashOf("paid"),
      blockNumber: 90n,
    };
    await poll();
    expect((await getDelivery(desk.db, ID))?.state).toBe("delivered");
    return opened;
  }

  test("is logged louder and more often after 6, 24 and 48 hours [T149]", async () => {
    const { desk, clock, state } = await openPaid();
    const { log, lines } = createKeepingLog();
    const poll = createOverdueClaimsPoll({ db: desk.db, clock, log, worksOn: () => true });
    const until = async (hours: number) => {
      lines.length = 0;
      const endMs = (Number(state.lock.lockedAt) + hours * 3_600) * 1_000;
      for (; clock.now() < endMs; clock.advance(300_000)) await poll();
      return lines.map(({ level, msg }) => [level, msg]);
    };
    expect(await until(6)).toEqual([]);
    const early = await until(24);
    expect(new Set(early.map(String))).toEqual(new Set(["40,claim not made 6h after its lock"]));
    const late = await until(48);
    expect(new Set(late.map(String))).toEqual(new Set(["50,claim not made 24h after its lock"]));
    const last = await until(72);
    expect(new Set(last.map(String))).toEqual(new Set(["60,claim not made 48h after its lock"]));
    expect(early.length).toBeLessThan(late.length / 2);
    expect(late.length).toBeLessThan(last.length / 2);
    expect(lines.at(-1)).toMatchObject({ count: 1, deliveryId: ID, chainId: 2 });
    expect(lines.at(-1)?.["takeBackInS"]).toBeLessThanOrEqual(600);
  });

  test("is counted under every hour that it passed [T149]", async () => {
    const { desk, clock } = await openPaid();
    const gauge = swiftGauges.find(({ name }) => name === "claims_overdue");
    const kinds = async () => {
      const query = gauge?.select(sql`0::float8`, clock.now()) ?? sql`select`;
      const { rows } = await sql<{ kind: string; src_chain: number }>`
        select kind, src_chain from (${query}) counted order by kind`.execute(desk.db);
      return rows.map(({ kind, src_chain: chain }) => `${kind} on ${chain}`);
    };
    clock.advance(5 * 3_600_000);
    expect(await kinds()).toEqual([]);
    clock.advance(3_600_000);
    expect(await kinds()).toEqual(["6h on 2"]);
    clock.advance(42 * 3_600_000);
    expect(await kinds()).toEqual(["24h on 2", "48h on 2", "6h on 2"]);
  });

  test("may offer a higher gas price the older its lock, up to half of the lock's value [T172]", async () => {
    const { desk, clock } = await openPaid();
    let rate: bigint | null = 10n ** 18n;
    const chain = { chainId: 2, tokens: [{ address: USDC, decimals: 6 }] };
    const readCap = createClaimCapReader({
      db: desk.db,
      clock,
      // CAST: the parts of a chain that are read.
      config: { chains: [chain] } as never,
      prices: {
        readRate: async (from, to) => {
          expect([from, to]).toEqual([
            { chainId: 2, token: USDC },
            { chainId: 2, token: NATIVE_TOKEN },
          ]);
          if (rate === null) throw new OperatingError("PRICE_UNAVAILABLE", "No price.");
          return rate;
        },
      },
    });
    // CAST: the parts of a transaction that are read. The lock's 1,000 units are 0.001 coins.
    const capOf = (cap: bigint) =>
      readCap({ intent: `claim:${ID}:1`, gas: 100_000n } as never, cap);
    expect(await capOf(10n ** 9n)).toBe(10n ** 9n);
    clock.advance(6 * 3_600_000);
    expect(await capOf(10n ** 9n)).toBe(2n * 10n ** 9n);
    clock.advance(42 * 3_600_000);
    expect(await capOf(10n ** 8n)).toBe(8n * 10n ** 8n);
    expect(await capOf(10n ** 9n)).toBe(5n * 10n ** 9n);
    rate = null;
    expect(await capOf(10n ** 9n)).toBe(2n * 10n ** 9n);
  });

  test.each([
    ["the integrator is paused", "pause integrator"],
    ["the chain, the token and the route are paused", "pause chain"],
    ["the inventory is empty and its daily cap used up", "inventory"],
    ["another chain is halted by a breach", "breach elsewhere"],
    ["its own chain is halted by a breach that leaves it safe", "breach here"],
    ["the requests of all other work are used up", "budget"],
  ] as const)("is requested and sent while %s [T149] [T199]", async (_, cause) => {
    const { desk, clock, deps: opened, requests, state } = await openPaid();
    // The doubles of chains without a method refuse each request.
    const spent = new Map([2, 30].map((chainId) => [chainId, createStrictChain({ chainId })]));
    const deps = cause === "budget" ? { ...opened, chains: spent } : opened;
    const { db } = desk;
    const by = { operator: "anna", reason: "drill" };
    if (cause === "pause integrator") {
      const { id } = await db.selectFrom("integrators").select("id").executeTakeFirstOrThrow();
      await startPause(desk.deps, { scope: "integrator", integratorId: id }, by);
    } else if (cause === "pause chain") {
      await startPause(desk.deps, { scope: "chain", chainId: 2 }, by);
      await startPause(desk.deps, { scope: "token", chainId: 2, token: USDC }, by);
      await startPause(desk.deps, { scope: "route", chainId: 2, route: "SWIFT" }, by);
    } else if (cause === "breach elsewhere" || cause === "breach here") {
      const chainId = cause === "breach here" ? 2 : 7;
      await recordFindings(db, [toFinding("lock_missing", { chainId, subject: ID, details: {} })]);
    }
    // The destination double has no getBalance and no getDailyCapLeft: a claim that asked for inventory would fail.
    state.deliveredFinal = true;
    clock.advance(60_000);
    await createDeliveryPolls(deps, 30).claims();
    expect(await requests()).toMatchObject([{ id: `claim:${ID}:1` }]);
    await answerAttestation(db, {
      id: `claim:${ID}:1`,
      attestor: LANE,
      nowMs: clock.now(),
      signature: "0x51",
      refusal: null,
    });
    clock.advance(60_000);
    await createDeliveryPolls(deps, 30).claims();
    expect((await getDelivery(db, ID))?.state).toBe("claiming");
    const { count } = await db
      .selectFrom("transactions")
      .select((eb) => eb.fn.countAll<string>().as("count"))
      .where("intent", "=", `claim:${ID}:1`)
      .executeTakeFirstOrThrow();
    expect(Number(count)).toBe(1);
  });

  test("is proved by the hinted receipt where searches for logs answer empty [T199]", async () => {
    const { clock, deps, requests, state } = await openPaid();
    state.deliveredFinal = true;
    state.hidden = null;
    clock.advance(60_000);
    await createDeliveryPolls(deps, 30).claims();
    expect(await requests()).toMatchObject([
      { id: `claim:${ID}:1`, hints: [hashOf("paid"), hashOf("sweep:")] },
    ]);
    expect(state.searched).toEqual([]);
  });

  test("is in a queue of its own [T149]", async () => {
    const { desk, clock, deps, requests, state } = await openPaid();
    state.deliveredFinal = true;
    clock.advance(60_000);
    await createDeliveryPolls(deps, 30).payouts();
    expect(await requests()).toEqual([]);
    await createDeliveryPolls(deps, 30).claims();
    expect(await requests()).toMatchObject([{ id: `claim:${ID}:1` }]);
    expect((await getDelivery(desk.db, ID))?.claims).toBe(1);
  });
});

describe("the number of a lock", () => {
  test("is unique for its wallet and token, even when the clock moves back", async () => {
    const { desk, clock } = await openLocked();
    const { db } = desk;
    const seqs: bigint[] = [];
    const source = createStrictChain({
      chainId: 2,
      addresses: { walletRoot: RECIPIENT, escrow: RECIPIENT, delivery: RECIPIENT },
      encodeLockData: ({ seq }) => {
        seqs.push(seq);
        return "0x10";
      },
      buildSettle: () => ({ to: RECIPIENT, data: "0x5e", value: 0n }),
    });
    const destination = createStrictChain({
      chainId: 30,
      addresses: { walletRoot: RECIPIENT, escrow: RECIPIENT, delivery: RECIPIENT },
    });
    const plan = async (token = USDC) => {
      const route = createSwiftRoute({
        db,
        clock,
        source,
        destination,
        token,
        destToken: USDC,
        decimalsIn: 6,
        decimalsOut: 6,
        contract: RECIPIENT,
        pricing: null,
      });
      await route.prepareSweep(await desk.issue("0x01"), 1_000n, { bps: 0, flat: 0n, bridge: 0n });
      const seq = seqs.pop();
      assert(seq !== undefined, "a lock has a number");
      return seq;
    };
    const setSeq = (seq: bigint) => db.updateTable("deliveries").set({ seq }).execute();
    const now = BigInt(clock.now());
    expect(await plan()).toBe(now);
    await setSeq(now);
    expect(await plan()).toBe(now + 1n);
    // The clock jumps back an hour, then forward again.
    clock.advance(-3_600_000);
    expect(await plan()).toBe(now + 1n);
    expect(await plan(RECIPIENT)).toBe(now - 3_600_000n);
    clock.advance(7_200_000);
    expect(await plan()).toBe(now + 3_600_000n);
  });
});
