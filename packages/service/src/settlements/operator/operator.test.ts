/** Operators' retries and refunds, against real PostgreSQL, with preset answers of the chain. */
import { sql } from "kysely";
import { describe, expect, test, vi } from "vitest";
import { hashOf, LANE } from "../../../test/support/doubles.ts";
import { type Desk, openDesk, RECIPIENT, USDC } from "../../../test/support/settlement-desk.ts";
import { type Chain, MORE_ARRIVED } from "../../chains/port/index.ts";
import { OperatingError } from "../../core/errors.ts";
import { toEvmAddress } from "../../core/hex.ts";
import { listActions } from "./actions.ts";
import { advance } from "../advance.ts";
import { refundSettlement } from "./refund.ts";
import { retrySettlement } from "./retry.ts";
import { explainWait, locateValue } from "./explain.ts";
import { readSettlementFile } from "./file.ts";
import { pollRefunds } from "../followers/refunded.ts";

const BY = { operator: "ada@desk", reason: "ticket 7" };
/** The refund authority: the desk's integrator sets it to its recipient. */
const AUTHORITY = RECIPIENT;

async function openDeposit() {
  const desk = await openDesk();
  const address = await desk.issue("0x01");
  desk.state.balance = 1_000n;
  await desk.arrive(address, { amount: 1_000n, block: 90n });
  const [swap] = await desk.swaps();
  if (!swap) throw new Error("there is a settlement");
  const retry = (id = swap.id) => retrySettlement(desk.deps, { ...BY, id });
  const refund = (to = AUTHORITY, id = swap.id) => refundSettlement(desk.deps, { ...BY, id, to });
  const actions = () => listActions(desk.db, swap.id);
  const statusOf = async () => (await desk.swaps())[0]?.status;
  return { desk, address, id: swap.id, retry, refund, actions, statusOf };
}

/** Opens a settlement that failed once and waits for its retry. */
async function openFailing() {
  const opened = await openDeposit();
  opened.desk.state.simulation = { ok: false, reason: "Paused" };
  await opened.desk.poll();
  expect(await opened.statusOf()).toBe("failed_swap");
  return opened;
}

async function openDead() {
  const opened = await openFailing();
  for (let i = 0; i < 7; i++) await opened.desk.poll();
  expect(await opened.statusOf()).toBe("dead");
  opened.desk.state.simulation = { ok: true, gas: 1n };
  return opened;
}

async function openSwapping() {
  const opened = await openDeposit();
  await opened.desk.poll();
  expect(await opened.statusOf()).toBe("swapping");
  return opened;
}

/** Opens a settlement whose lock is final and whose delivery has an error. */
async function openWithDeliveryError() {
  const opened = await openSwapping();
  opened.desk.state.swept = 1_000n;
  opened.desk.state.balance = 0n;
  await opened.desk.mine(`sweep:${opened.id}`);
  const error = new OperatingError("TX_REVERTED", "It reverted.");
  opened.desk.state.delivery = { kind: "failing", error };
  await opened.desk.poll();
  expect(await opened.statusOf()).toBe("failed_swap");
  return opened;
}

async function openCompleted() {
  const opened = await openWithDeliveryError();
  opened.desk.state.delivery = { kind: "delivered", txHash: hashOf("delivery"), amount: 999n };
  await opened.desk.poll();
  expect(await opened.statusOf()).toBe("completed");
  return opened;
}

function chainOf(desk: Desk): Chain {
  const chain = desk.deps.chains.get(2);
  if (!chain) throw new Error("the desk has a chain");
  return chain;
}

const sweepsOf = async (desk: Desk) =>
  (await desk.db.selectFrom("transactions").select("intent").execute()).filter(({ intent }) =>
    intent.startsWith("sweep:"),
  );

describe("a retry", () => {
  test("of a failing settlement runs before its scheduled time and is recorded once [T120]", async () => {
    const { desk, id, retry, actions, statusOf } = await openFailing();
    desk.state.simulation = { ok: true, gas: 1n };
    await advance(desk.deps, id);
    expect(await statusOf()).toBe("failed_swap");

    expect(await retry()).toEqual({ kind: "rescheduled", settlementId: id, changed: true });
    expect(await retry()).toEqual({ kind: "rescheduled", settlementId: id, changed: false });
    await advance(desk.deps, id);
    expect(await statusOf()).toBe("swapping");
    expect(await actions()).toEqual([
      {
        ...BY,
        action: "retry",
        fromStatus: "failed_swap",
        fromStep: "sweep",
        successorId: null,
        refundTo: null,
        at: expect.stringMatching(/Z$/),
      },
    ]);
  });

  test("that fails uses up a try", async () => {
    const { desk, id, retry, actions } = await openFailing();
    for (let i = 0; i < 6; i++) {
      expect(await retry()).toMatchObject({ kind: "rescheduled", changed: true });
      await advance(desk.deps, id);
    }
    expect((await desk.swaps())[0]).toMatchObject({ status: "dead", retryCount: 7 });
    expect(await actions()).toHaveLength(6);
  });

  test("of a dead settlement opens exactly one new settlement over the whole balance", async () => {
    const { desk, id, retry, actions } = await openDead();
    const first = await retry();
    expect(first).toEqual({ kind: "reopened", settlementId: expect.any(String), changed: true });
    expect(first.settlementId).not.toBe(id);
    expect(await retry()).toEqual({ ...first, changed: false });
    expect(await actions()).toMatchObject([
      { action: "retry", fromStatus: "dead", successorId: first.settlementId },
    ]);
    await desk.poll();
    desk.state.swept = 1_000n;
    desk.state.balance = 0n;
    await desk.mine(`sweep:${first.settlementId}`);
    desk.state.delivery = { kind: "delivered", txHash: hashOf("delivery"), amount: 999n };
    await desk.poll();
    expect((await desk.swaps()).map(({ status }) => status)).toEqual(["dead", "completed"]);
    expect(await sweepsOf(desk)).toHaveLength(1);
    expect((await desk.deposits()).map((row) => row.settlement_id)).toEqual([first.settlementId]);
    // Deposits that are settled are not settled again.
    await expect(retry()).rejects.toThrow("holds too little of the token");
    expect(await actions()).toHaveLength(1);
  });

  test("requested concurrently opens one settlement", async () => {
    const { desk, retry, actions } = await openDead();
    const results = await Promise.all(Array.from({ length: 8 }, () => retry()));
    expect(new Set(results.map(({ settlementId }) => settlementId)).size).toBe(1);
    expect(results.filter(({ changed }) => changed)).toHaveLength(1);
    expect(await desk.swaps()).toHaveLength(2);
    expect(await actions()).toHaveLength(1);
  });

  test("while workers poll the settlement plans one sweep", async () => {
    const { desk, id, retry, actions } = await openFailing();
    desk.state.simulation = { ok: true, gas: 1n };
    desk.clock.advance(900_000);
    const outcomes = await Promise.allSettled([
      advance(desk.deps, id),
      retry(),
      advance(desk.deps, id),
      retry(),
      advance(desk.deps, id),
    ]);
    const refused = outcomes.flatMap((outcome) =>
      outcome.status === "rejected" ? [String(outcome.reason)] : [],
    );
    expect(refused.filter((reason) => !reason.includes("in flight"))).toEqual([]);
    await desk.poll();
    expect((await desk.swaps()).map(({ status }) => status)).toEqual(["swapping"]);
    expect(await sweepsOf(desk)).toHaveLength(1);
    expect((await actions()).length).toBeLessThanOrEqual(1);
  });

  test.each([
    ["that has not failed", openDeposit, "is pending_swap, and nothing failed"],
    ["whose sweep is sent", openSwapping, "in flight"],
    ["whose delivery has an error", openWithDeliveryError, "in flight"],
    ["that completed", openCompleted, "is completed"],
  ])("of a settlement %s is refused and not recorded", async (_what, open, why) => {
    const { retry, refund, actions, statusOf } = await open();
    const before = await statusOf();
    await expect(retry()).rejects.toThrow(why);
    await expect(refund()).rejects.toThrow(why);
    expect(await actions()).toEqual([]);
    expect(await statusOf()).toBe(before);
  });

  test.each(["00000000-0000-4000-8000-000000000000", "nonsense", ""])(
    "of an unknown settlement (%j) is refused",
    async (id) => {
      const { retry, refund } = await openDeposit();
      await expect(retry(id)).rejects.toMatchObject({ code: "VALIDATION_ERROR" });
      await expect(refund(AUTHORITY, id)).rejects.toThrow(`There is no settlement ${id}.`);
    },
  );
});

describe("a refund", () => {
  test("ends a failing settlement with its error and returns the call for the refund authority", async () => {
    const { desk, id, refund, actions } = await openFailing();
    desk.state.simulation = { ok: true, gas: 1n };
    const simulate = vi.spyOn(chainOf(desk), "simulate");
    const prepared = await refund();
    expect(prepared).toMatchObject({
      kind: "call",
      settlementId: id,
      authority: AUTHORITY,
      chainId: 2,
      balance: 1_000n,
      call: { data: expect.stringMatching(/^0x2e/), value: 0n },
      obstacle: null,
      changed: true,
    });
    expect(simulate.mock.calls).toEqual([[AUTHORITY, "call" in prepared && prepared.call]]);
    expect((await desk.swaps())[0]).toMatchObject({
      status: "dead",
      retryCount: 1,
      error: { code: "SIMULATION_REVERTED", retryable: false },
    });
    expect((await desk.events()).at(-1)?.data).toMatchObject({
      prevStatus: "failed_swap",
      status: "dead",
    });
    expect(await refund()).toEqual({ ...prepared, changed: false });
    expect(await actions()).toMatchObject([
      { action: "refund", fromStatus: "failed_swap", refundTo: AUTHORITY },
    ]);
    await desk.poll();
    expect(await sweepsOf(desk)).toEqual([]);
  });

  test("to anybody but the refund authority is refused", async () => {
    const { refund, actions, statusOf } = await openFailing();
    const thief = toEvmAddress(`0x${"66".repeat(20)}`);
    await expect(refund(thief)).rejects.toThrow(
      `committed to the refund authority ${AUTHORITY}: nobody else can get a refund`,
    );
    expect(await actions()).toEqual([]);
    expect(await statusOf()).toBe("failed_swap");
  });

  test("is refused when the row of the deposit address was edited [T112]", async () => {
    const { desk, refund, statusOf } = await openFailing();
    const thief = toEvmAddress(`0x${"66".repeat(20)}`);
    await desk.db.updateTable("addresses").set({ refund_authority: thief }).execute();
    await expect(refund(thief)).rejects.toMatchObject({ code: "CONFIG_MISSING" });
    expect(await statusOf()).toBe("failed_swap");
  });

  test("of an empty deposit address is refused", async () => {
    const { desk, refund, actions } = await openDead();
    desk.state.balance = 0n;
    await expect(refund()).rejects.toThrow("holds nothing of the token");
    expect(await actions()).toEqual([]);
  });

  test("is refused while another settlement of the holding is active", async () => {
    const { desk, retry, refund } = await openDead();
    const { settlementId } = await retry();
    await expect(refund()).rejects.toThrow(`Settlement ${settlementId} is settling`);
    await desk.poll();
    await expect(refund()).rejects.toThrow(`Settlement ${settlementId} is settling`);
  });

  test("returns the revert reason of its simulation", async () => {
    const { desk, refund } = await openDead();
    desk.state.simulation = { ok: false, reason: "TokenPaused" };
    expect(await refund()).toMatchObject({ obstacle: "it reverts with TokenPaused" });
  });

  test("concurrent with a worker's sweep plan: exactly one of the two takes effect", async () => {
    const won = { sweep: 0, refund: 0 };
    for (let round = 0; round < 6; round++) {
      const { desk, id, refund, actions, statusOf } = await openFailing();
      desk.state.simulation = { ok: true, gas: 1n };
      desk.clock.advance(900_000);
      // The worker has read the chain and is about to write when the operator begins, or the reverse.
      const ready = Promise.withResolvers<void>();
      const go = Promise.withResolvers<void>();
      desk.route.readInventory = async () => {
        ready.resolve();
        await go.promise;
        return { reserved: 0n, balance: 0n, capLeft: 0n, rate: 10n ** 18n };
      };
      const worker = advance(desk.deps, id);
      await ready.promise;
      if (round % 2 === 0) await refund();
      go.resolve();
      const refunding = round % 2 === 0 ? null : refund().catch((error: unknown) => error);
      await worker;
      await refunding;
      const status = await statusOf();
      const sweeps = (await sweepsOf(desk)).length;
      const recorded = (await actions()).length;
      expect([
        ["dead", 0, 1],
        ["swapping", 1, 0],
      ]).toContainEqual([status, sweeps, recorded]);
      won[status === "dead" ? "refund" : "sweep"] += 1;
    }
    expect(won.refund).toBeGreaterThanOrEqual(3);
  });

  test("is recorded once a final block contains it, with or without an operator's request", async () => {
    const { desk, id, refund } = await openDead();
    const refunded = {
      to: AUTHORITY,
      amount: 1_000n,
      txHash: hashOf("refund"),
      blockNumber: 120n,
      logIndex: 3,
    };
    await pollRefunds(desk.deps, 2);
    expect((await desk.swaps())[0]?.error?.details).not.toMatchObject({ reason: "refunded" });
    await refund();
    desk.state.refund = refunded;
    desk.state.balance = 0n;
    await pollRefunds(desk.deps, 2);
    await pollRefunds(desk.deps, 2);
    expect((await desk.swaps())[0]).toMatchObject({
      status: "dead",
      error: {
        code: "SIMULATION_REVERTED",
        retryable: false,
        details: { reason: "refunded", txHash: refunded.txHash },
      },
    });
    const file = await readSettlementFile(desk.db, id);
    expect(file && locateValue(file)).toBe("refund_authority");
    expect(file?.nextCheckAt).toBe(null);
  });

  test("mined before the settlement's deposits is not attributed to the settlement", async () => {
    const { desk } = await openDead();
    for (const [blockNumber, logIndex] of [
      [89n, 9],
      [90n, 0],
    ] as const) {
      desk.state.refund = {
        to: AUTHORITY,
        amount: 1n,
        txHash: hashOf("refund"),
        blockNumber,
        logIndex,
      };
      desk.clock.advance(3_600_000);
      await pollRefunds(desk.deps, 2);
      expect((await desk.swaps())[0]?.error?.details).not.toMatchObject({ reason: "refunded" });
    }
  });

  test("is searched with growing intervals, and never once a later settlement has swept the deposits", async () => {
    const { desk, retry } = await openDead();
    const search = vi.spyOn(chainOf(desk), "findRefund");
    for (let minute = 0; minute < 24 * 60; minute++) {
      desk.clock.advance(60_000);
      await pollRefunds(desk.deps, 2);
    }
    expect(search.mock.calls.length).toBeGreaterThan(5);
    expect(search.mock.calls.length).toBeLessThan(40);
    const { settlementId } = await retry();
    await desk.poll();
    desk.state.swept = 1_000n;
    await desk.mine(`sweep:${settlementId}`);
    await desk.poll();
    search.mockClear();
    for (let hours = 0; hours < 48; hours++) {
      desk.clock.advance(3_600_000);
      await pollRefunds(desk.deps, 2);
    }
    expect(search).not.toHaveBeenCalled();
  });
});

describe("a refund from a vault", () => {
  /** Turns the desk's chain into a chain of vaults. */
  async function openVault(open = openFailing) {
    const opened = await open();
    const { desk, id } = opened;
    desk.state.simulation = { ok: true, gas: 7n };
    desk.turnIntoVaults();
    const chain = chainOf(desk);
    const refunds = async () => {
      const file = await readSettlementFile(desk.db, id);
      return (file?.transactions ?? []).filter(({ intent }) => intent.startsWith("refund:"));
    };
    /** Abandons a transaction, as a lane does when the signer refuses it. */
    const abandon = async (intent: string) => {
      await desk.db
        .updateTable("transactions")
        .set({ state: "abandoned", nonce: 900 })
        .where("intent", "=", intent)
        .execute();
    };
    return { ...opened, chain, refunds, abandon };
  }

  type Vault = Awaited<ReturnType<typeof openVault>>;

  test("is one order of the settle lane, planned in the transaction that ends the settlement", async () => {
    const { desk, id, refund, actions, chain, refunds } = await openVault();
    const simulate = vi.spyOn(chain, "simulate");
    const build = vi.spyOn(chain.wallets, "buildRefund");
    const wakeLanes = vi.spyOn(desk.deps, "wakeLanes");
    const planned = await refund();
    expect(planned).toEqual({
      kind: "order",
      settlementId: id,
      authority: AUTHORITY,
      chainId: 2,
      balance: 1_000n,
      changed: true,
      intent: `refund:${id}:1`,
    });
    expect(build.mock.calls.map(([, ...named]) => named)).toEqual([
      [USDC, { amount: 1_000n, reason: null }],
    ]);
    expect(simulate.mock.calls.map(([from]) => from)).toEqual([LANE]);
    expect(wakeLanes).toHaveBeenCalledExactlyOnceWith(2);
    expect((await desk.swaps())[0]).toMatchObject({
      status: "dead",
      error: { code: "SIMULATION_REVERTED", retryable: false },
    });
    expect(await refunds()).toMatchObject([
      { intent: `refund:${id}:1`, lane: LANE, state: "queued" },
    ]);
    expect(await refund()).toEqual({ ...planned, changed: false });
    expect(await refunds()).toHaveLength(1);
    expect(await actions()).toMatchObject([
      { action: "refund", fromStatus: "failed_swap", refundTo: AUTHORITY },
    ]);
    const file = await readSettlementFile(desk.db, id);
    expect(file && explainWait(file)).toBe(`refund:${id}:1 to get a nonce in its lane`);
  });

  test("leaves the account's minimum balance behind when dust keeps arriving", async () => {
    const { desk, refund, chain, refunds } = await openVault();
    desk.state.spare = 400n;
    const build = vi.spyOn(chain.wallets, "buildRefund");
    vi.spyOn(chain, "simulate").mockRejectedValueOnce(
      new OperatingError("RPC_UNAVAILABLE", "Not now.", { details: { reason: MORE_ARRIVED } }),
    );
    expect(await refund()).toMatchObject({ kind: "order", changed: true });
    expect(build.mock.calls.map(([, , held]) => held?.amount)).toEqual([1_000n, 600n]);
    expect(await refunds()).toHaveLength(1);
  });

  test("takes the balance of a dead settlement and is recorded once a final block contains it", async () => {
    const { desk, id, refund } = await openVault(openDead);
    expect(await refund()).toMatchObject({ kind: "order", changed: true });
    await desk.mine(`refund:${id}`);
    desk.state.balance = 0n;
    const txHash = hashOf(`refund:${id}`);
    desk.state.refund = { to: AUTHORITY, amount: 1_000n, txHash, blockNumber: 120n, logIndex: 3 };
    await pollRefunds(desk.deps, 2);
    expect((await desk.swaps())[0]).toMatchObject({
      status: "dead",
      error: { details: { reason: "refunded", txHash } },
    });
    await expect(refund()).rejects.toThrow("holds nothing of the token");
  });

  test.each([
    ["that the signer refused", (opened: Vault, intent: string) => opened.abandon(intent)],
    ["that failed finally", ({ desk }: Vault, intent: string) => desk.mine(intent, false)],
  ])("%s can be requested again, and the new request is recorded", async (_what, end) => {
    const opened = await openVault();
    const { id, refund, actions, refunds } = opened;
    await refund();
    await end(opened, `refund:${id}:1`);
    expect(await refund()).toMatchObject({ intent: `refund:${id}:2`, changed: true });
    expect(await refund()).toMatchObject({ intent: `refund:${id}:2`, changed: false });
    expect((await refunds()).map(({ intent }) => intent)).toEqual([
      `refund:${id}:1`,
      `refund:${id}:2`,
    ]);
    expect(await actions()).toMatchObject([
      { action: "refund", fromStatus: "failed_swap" },
      { action: "refund", fromStatus: "dead" },
    ]);
  });

  test("in flight is not requested again when the wallet is empty in the newest block", async () => {
    const { desk, id, refund } = await openVault();
    await refund();
    await desk.mine(`refund:${id}:1`, true, "mined");
    desk.state.balance = 0n;
    expect(await refund()).toMatchObject({ intent: `refund:${id}:1`, changed: false });
  });

  test("requested concurrently is one order", async () => {
    const { refund, actions, refunds } = await openVault();
    const results = await Promise.all(Array.from({ length: 8 }, () => refund()));
    expect(results.filter(({ changed }) => changed)).toHaveLength(1);
    expect(await refunds()).toHaveLength(1);
    expect(await actions()).toHaveLength(1);
  });

  test("whose simulation fails is refused and changes nothing", async () => {
    const { desk, refund, actions, statusOf, refunds } = await openVault();
    desk.state.simulation = { ok: false, reason: "frozen" };
    await expect(refund()).rejects.toMatchObject({
      code: "SIMULATION_REVERTED",
      details: { reason: "frozen" },
    });
    expect([await statusOf(), await actions(), await refunds()]).toEqual(["failed_swap", [], []]);
  });

  test("to a stranger is refused and plans no order", async () => {
    const { refund, refunds, statusOf } = await openVault();
    const thief = toEvmAddress(`0x${"66".repeat(20)}`);
    await expect(refund(thief)).rejects.toThrow("nobody else can get a refund");
    expect([await statusOf(), await refunds()]).toEqual(["failed_swap", []]);
  });

  test("blocks a retry of the same settlement until the refund has failed", async () => {
    const { id, refund, retry, abandon } = await openVault();
    await refund();
    await expect(retry()).rejects.toThrow(`The refund refund:${id}:1 is pending`);
    await abandon(`refund:${id}:1`);
    expect(await retry()).toMatchObject({ kind: "reopened", changed: true });
  });

  test("is possible for a settlement whose sweep the signer refused permanently", async () => {
    const { desk, id, refund, statusOf, abandon } = await openVault(openSwapping);
    await expect(refund()).rejects.toThrow("in flight");
    await abandon(`sweep:${id}:1`);
    await desk.poll();
    expect(await statusOf()).toBe("failed_swap");
    expect(await refund()).toMatchObject({ kind: "order", changed: true });
    expect(await statusOf()).toBe("dead");
  });
});

describe("the record of operator actions", () => {
  test("is append-only", async () => {
    const { desk, retry } = await openFailing();
    await retry();
    const { db } = desk;
    const kept = "only added to, never changed or removed";
    await expect(
      db.updateTable("operator_actions").set({ reason: "another" }).execute(),
    ).rejects.toThrow(kept);
    await expect(db.deleteFrom("operator_actions").execute()).rejects.toThrow(kept);
    await expect(sql`truncate operator_actions`.execute(db)).rejects.toThrow(kept);
    expect(await db.selectFrom("operator_actions").select("reason").execute()).toEqual([
      { reason: BY.reason },
    ]);
  });

  test("commits in the same transaction as the change that it records", async () => {
    const { desk, id, statusOf } = await openFailing();
    const nobody = { id, operator: "", reason: "" };
    await expect(retrySettlement(desk.deps, nobody)).rejects.toThrow("check constraint");
    await expect(refundSettlement(desk.deps, { ...nobody, to: AUTHORITY })).rejects.toThrow(
      "check constraint",
    );
    expect(await statusOf()).toBe("failed_swap");
    const row = await desk.db.selectFrom("settlements").select("retry_at").executeTakeFirst();
    expect(row?.retry_at).not.toBe(null);
  });
});

describe("the report of a settlement", () => {
  test.each([
    ["pending", openDeposit, "deposit_address", "does a settler run?"],
    ["failing", openFailing, "deposit_address", "SIMULATION_REVERTED"],
    ["sweeping", openSwapping, "sweeping", "to get a nonce in its lane"],
    [
      "delivering with an error",
      openWithDeliveryError,
      "escrow",
      "enough confirmations of its payment",
    ],
    ["completed", openCompleted, "recipient", null],
    ["dead", openDead, "deposit_address", null],
  ])("shows the value's location and the awaited event: %s", async (...args) => {
    const [, open, place, wait] = args;
    const { desk, id } = await open();
    const file = await readSettlementFile(desk.db, id);
    if (!file) throw new Error("it is there");
    expect(locateValue(file)).toBe(place);
    expect(String(explainWait(file))).toContain(String(wait));
    expect(file.deposits.map(({ amount }) => amount)).toEqual([1_000n]);
    expect(file.history.at(-1)?.to ?? "pending_swap").toBe(file.settlement.status);
  });

  test("lists every action in order", async () => {
    const { desk, id, retry } = await openDead();
    await retry();
    const file = await readSettlementFile(desk.db, id);
    expect(file?.history.map(({ to }) => to)).toEqual([...Array(6).fill("failed_swap"), "dead"]);
    expect(file?.actions.map(({ action }) => action)).toEqual(["retry"]);
    expect(file?.integrator).toBe("acme");
    expect(await readSettlementFile(desk.db, "00000000-0000-4000-8000-000000000000")).toBe(null);
  });
});
