/** A dead settlement has no value in flight: checked on every state in the database, and on random walks of the service. */
import fc from "fast-check";
import { expect, test } from "vitest";
import { hashOf } from "../../test/support/doubles.ts";
import { openDesk, RECIPIENT, USDC } from "../../test/support/settlement-desk.ts";
import { OperatingError } from "../core/errors.ts";
import { toHex32 } from "../core/hex.ts";
import type { Log } from "../telemetry/log.ts";
import { refundSettlement } from "./operator/refund.ts";
import { retrySettlement } from "./operator/retry.ts";
import { pollUnsettledDeposits } from "./intake/recheck.ts";
import { STEPS } from "./types.ts";

const SWEEPS = ["none", "queued", "assigned", "mined", "final"] as const;
const LOCKS = [
  "none",
  "locked",
  "delivered",
  "claiming",
  "claimed",
  "returning",
  "returned",
  "taken_back",
] as const;

test("the database accepts a dead settlement in exactly the states with nothing in flight [T80, V8]", async () => {
  const { db, issue, arrive, state } = await openDesk();
  const address = await issue("0x01");
  state.balance = 1_000n;
  await arrive(address, { amount: 1_000n, block: 90n });
  const { id } = await db.selectFrom("settlements").select("id").executeTakeFirstOrThrow();

  async function canBeDead(at: {
    readonly step: (typeof STEPS)[number];
    readonly sweep: (typeof SWEEPS)[number];
    readonly lock: (typeof LOCKS)[number];
  }): Promise<boolean> {
    let died = false;
    const undo = new Error("undone");
    const trying = db.transaction().execute(async (tx) => {
      await tx.updateTable("settlements").set({ step: at.step, sweeps_sent: 1 }).execute();
      if (at.sweep !== "none") {
        const mined = at.sweep === "mined" || at.sweep === "final";
        await tx
          .insertInto("transactions")
          .values({
            id,
            chain_id: 2,
            lane: RECIPIENT,
            intent: `sweep:${id}:1`,
            settlement_id: id,
            to_address: RECIPIENT,
            data: "0x",
            value: 0n,
            gas: 1n,
            state: at.sweep,
            nonce: at.sweep === "queued" ? null : 0,
            ...(mined && {
              succeeded: false,
              mined_hash: hashOf("sweep"),
              mined_block_hash: hashOf("block"),
              mined_block_number: 100n,
            }),
          })
          .execute();
      }
      if (at.lock !== "none") {
        await tx
          .insertInto("deliveries")
          .values({
            id: hashOf("lock"),
            settlement_id: id,
            state: at.lock,
            src_chain: 2,
            escrow: RECIPIENT,
            wallet: address.wallet,
            token: USDC,
            seq: 0n,
            locked_amount: 1n,
            min_out: 1n,
            locked_at: 1n,
            delivery: hashOf("delivery"),
            dest_chain: 30,
            dest_token: USDC,
            dest_wallet: RECIPIENT,
            pay_amount: 1n,
          })
          .execute();
      }
      await tx
        .updateTable("settlements")
        .set({ status: "dead", step: "done", error_code: "INTERNAL", error_retryable: false })
        .execute();
      died = true;
      throw undo;
    });
    await trying.catch((error: unknown) => {
      if (error !== undo && !String(error).includes("has value in flight")) throw error;
    });
    return died;
  }

  let allowed = 0;
  for (const step of STEPS) {
    for (const sweep of SWEEPS) {
      for (const lock of LOCKS) {
        const isSweepOver = sweep === "none" || sweep === "final";
        const isBack = lock === "taken_back" || (lock === "returned" && step !== "deliver");
        const nothingTaken = lock === "none" && step !== "deliver";
        const expected = isSweepOver && (isBack || nothingTaken);
        expect([step, sweep, lock, await canBeDead({ step, sweep, lock })]).toEqual([
          step,
          sweep,
          lock,
          expected,
        ]);
        if (expected) allowed += 1;
      }
    }
  }
  // Three steps with three endings, and one with one, each after two kinds of sweep.
  expect(allowed).toBe(20);
});

/** Actions that advance a settlement occur more often, so that some walks reach a terminal status. */
const ACTIONS = [
  "poll",
  "poll",
  "poll",
  "poll",
  "poll",
  "poll",
  "mine the sweep",
  "mine the sweep",
  "finalise the sweep",
  "finalise the sweep",
  "finalise the sweep",
  "deliver",
  "deliver",
  "deliver",
  "deposit",
  "recover the simulation",
  "fill inventory",
  "revert the simulation",
  "recover the simulation",
  "empty inventory",
  "fill inventory",
  "mine the sweep",
  "finalise the sweep",
  "revert the sweep for good",
  "fail the delivery",
  "recover the delivery",
  "return the lock",
  "deliver",
  "deposit",
  "retry",
  "refund",
  "refund",
  "take the refund",
] as const;

test("random walks leave nothing in flight when dead, at most one open sweep, and no deposit swept twice [T80, V6]", async () => {
  let dead = 0;
  let completed = 0;
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.constantFrom(...ACTIONS), { minLength: 40, maxLength: 60, size: "max" }),
      async (actions) => {
        const world = await openWalk();
        for (const action of actions) await world.act(action);
        for (const swap of await world.desk.swaps()) {
          if (swap.status === "dead") dead += 1;
          if (swap.status === "completed") completed += 1;
        }
      },
    ),
    { numRuns: 16, seed: 7, endOnFailure: true },
  );
  // Fails when too few walks reach a terminal status.
  expect(dead).toBeGreaterThan(3);
  expect(completed).toBeGreaterThan(3);
}, 120_000);

/** Opens a desk whose chain keeps balances: a successful sweep or refund takes the whole balance. */
async function openWalk() {
  const desk = await openDesk();
  const { db, deps, state } = desk;
  const loggedErrors: unknown[] = [];
  // CAST: the only members that the settlement steps call.
  const log = {
    info() {},
    warn() {},
    error: (facts: unknown) => loggedErrors.push(facts),
  } as unknown as Log;
  Object.assign(deps, { log });
  const address = await desk.issue("0x01");
  let paidIn = 0n;
  /** Swept value that is neither delivered nor returned. */
  let inFlight = 0n;
  let delivered = 0n;
  let refunded = 0n;
  let block = 90n;
  state.delivery = { kind: "waiting" };

  const openSweep = () =>
    db
      .selectFrom("transactions")
      .select(["intent", "state"])
      .where("intent", "like", "sweep:%")
      .where("state", "<>", "final")
      .executeTakeFirst();

  async function deposit(): Promise<void> {
    block += 1n;
    state.balance += 1_000n;
    paidIn += 1_000n;
    await desk.arrive(address, { amount: 1_000n, block });
  }

  async function act(action: (typeof ACTIONS)[number]): Promise<void> {
    const sweep = await openSweep();
    const last = (await desk.swaps()).at(-1);
    switch (action) {
      case "poll":
        await desk.poll();
        await pollUnsettledDeposits(deps, 2);
        break;
      case "revert the simulation":
        state.simulation = { ok: false, reason: "Paused" };
        break;
      case "recover the simulation":
        state.simulation = { ok: true, gas: 1n };
        break;
      case "empty inventory":
        state.reserves = "inventory_too_low";
        break;
      case "fill inventory":
        state.reserves = "reserved";
        break;
      case "mine the sweep":
        if (sweep && sweep.state !== "mined" && state.balance > 0n) {
          block += 1n;
          state.block = block;
          state.blockHash = toHex32(hashOf(`block ${block}`));
          expect(inFlight).toBe(0n);
          inFlight = state.balance;
          state.swept = state.balance;
          state.balance = 0n;
          await desk.mine(sweep.intent, true, "mined");
        }
        break;
      case "finalise the sweep":
        if (sweep?.state === "mined") await desk.mine(sweep.intent, true, "final");
        break;
      case "revert the sweep for good":
        if (sweep && sweep.state !== "mined") await desk.mine(sweep.intent, false, "final");
        break;
      case "fail the delivery":
        state.delivery = {
          kind: "failing",
          error: new OperatingError("TX_REVERTED", "It reverted."),
        };
        break;
      case "recover the delivery":
        state.delivery = { kind: "waiting" };
        break;
      case "return the lock":
        await endDelivery((amount) => {
          state.balance += amount;
          state.delivery = {
            kind: "returned",
            error: new OperatingError("INTERNAL", "Too late.", { details: { reason: "returned" } }),
          };
        });
        break;
      case "deliver":
        await endDelivery((amount) => {
          delivered += amount;
          state.delivery = { kind: "delivered", txHash: hashOf("delivery"), amount };
        });
        break;
      case "deposit":
        await deposit();
        break;
      case "retry":
        if (last) await mayRefuse(retrySettlement(deps, { id: last.id, ...BY }));
        break;
      case "refund":
        if (last) await mayRefuse(refundSettlement(deps, { id: last.id, to: RECIPIENT, ...BY }));
        break;
      case "take the refund":
        // The refund authority can do this at any time.
        refunded += state.balance;
        state.balance = 0n;
        break;
    }
    await check();
  }

  /** Ends a lock, as the chain would: once, and polled by the settlement at once. */
  async function endDelivery(end: (amount: bigint) => void): Promise<void> {
    const locked = await db
      .selectFrom("settlements")
      .select("swept_amount")
      .where("step", "=", "deliver")
      .executeTakeFirst();
    if (!locked) return;
    expect(BigInt(locked.swept_amount ?? "0")).toBe(inFlight);
    end(inFlight);
    inFlight = 0n;
    await desk.poll();
    state.delivery = { kind: "waiting" };
  }

  async function check(): Promise<void> {
    expect(loggedErrors).toEqual([]);
    const rows = await db.selectFrom("settlements").selectAll().execute();
    const sweeps = await db
      .selectFrom("transactions")
      .select(["intent", "state", "settlement_id"])
      .where("intent", "like", "sweep:%")
      .execute();
    const open = sweeps.filter(({ state: now }) => now !== "final");
    expect(open.length).toBeLessThanOrEqual(1);
    const active = rows.filter(({ status }) => status !== "completed" && status !== "dead");
    expect(active.length).toBeLessThanOrEqual(1);
    for (const { settlement_id } of open) expect(settlement_id).toBe(active[0]?.id);
    if (inFlight > 0n)
      expect(active.map(({ step }) => step)).toEqual([expect.toBeOneOf(["sweep", "deliver"])]);
    const completed = rows.flatMap(({ status, swept_amount }) =>
      status === "completed" ? [BigInt(swept_amount ?? "0")] : [],
    );
    expect(completed.reduce((total, amount) => total + amount, 0n)).toBe(delivered);
    // Every base unit that came in was delivered or refunded, or is in flight or in the wallet.
    expect(delivered + inFlight + refunded + state.balance).toBe(paidIn);
  }

  await deposit();
  return { desk, act };
}

const BY = { operator: "ada@desk", reason: "a walk" };

async function mayRefuse(acting: Promise<unknown>): Promise<void> {
  await acting.catch((error: unknown) => {
    expect(error).toMatchObject({ code: "VALIDATION_ERROR" });
  });
}
