/** Settlements against real PostgreSQL, with preset answers of the chain. */
import { describe, expect, test } from "vitest";
import { createStrictChain, hashOf } from "../../test/support/doubles.ts";
import { type Desk, openDesk, RECIPIENT, USDC } from "../../test/support/settlement-desk.ts";
import { getAddressById } from "../addresses/index.ts";
import { OperatingError } from "../core/errors.ts";
import { toAddress, toEvmAddress, toHex32 } from "../core/hex.ts";
import { endBreach, listBreaches, recordFindings, toFinding } from "../ledger/index.ts";
import { REPAIRS } from "../roles/repairs.ts";
import { createRouteBook } from "../routes/index.ts";
import { recordUndeliveredLock } from "./steps/deliver.ts";
import { followCompleted } from "./followers/completed.ts";
import { pollUnsettledDeposits } from "./intake/recheck.ts";

describe("arrival", () => {
  test("forty concurrent deposits create one active settlement and forty events [M1, T76]", async () => {
    const desk = await openDesk();
    const address = await desk.issue("0x01");
    desk.state.balance = 40_000n;
    await Promise.all(
      Array.from({ length: 40 }, (_, i) =>
        desk.arrive(address, { amount: 1_000n, block: BigInt(i + 1), tx: `${i}` }),
      ),
    );
    const swaps = await desk.swaps();
    expect(swaps.length).toBe(1);
    const deposits = await desk.deposits();
    expect(deposits.length).toBe(40);
    expect(new Set(deposits.map((deposit) => deposit.settlement_id))).toEqual(
      new Set([swaps[0]?.id]),
    );
    const events = await desk.events();
    expect(events.map((event) => event.type)).toEqual(Array(40).fill("deposit_detected"));
    const stamps = events.map((event) => event.timestamp);
    expect(new Set(stamps).size).toBe(40);
    expect(stamps).toEqual(stamps.toSorted());
  });

  test("scanning a block again adds nothing [D4, T53]", async () => {
    const desk = await openDesk();
    const address = await desk.issue("0x02");
    desk.state.balance = 1_000n;
    for (let i = 0; i < 3; i++) await desk.arrive(address, { amount: 1_000n, block: 5n, tx: "a" });
    expect((await desk.deposits()).length).toBe(1);
    expect((await desk.events()).length).toBe(1);
    expect((await desk.swaps()).length).toBe(1);
  });

  test("a transfer mined again in another block is the same deposit [T44]", async () => {
    const desk = await openDesk();
    const address = await desk.issue("0x03");
    desk.state.balance = 1_000n;
    await desk.arrive(address, { amount: 1_000n, block: 5n, tx: "a" });
    await desk.arrive(address, { amount: 1_000n, block: 7n, tx: "a" });
    const deposits = await desk.deposits();
    expect(deposits.map((deposit) => deposit.block_number)).toEqual([7n]);
    expect((await desk.events()).length).toBe(1);
  });

  test("ten thousand transfers to one wallet in one block create one event and one settlement [T18]", async () => {
    const desk = await openDesk();
    const address = await desk.issue("0x09");
    desk.state.balance = 10_000n;
    await desk.arrive(address, { amount: 1n, block: 5n, times: 10_000 });
    await desk.arrive(address, { amount: 1n, block: 6n, times: 10_000, tx: "more" });
    expect((await desk.deposits()).length).toBe(20_000);
    expect((await desk.events()).length).toBe(2);
    expect((await desk.swaps()).length).toBe(1);
  });

  test("a deposit whose balance was read too low settles at a later poll [V9]", async () => {
    const desk = await openDesk();
    const address = await desk.issue("0x0a");
    desk.state.balance = 0n;
    await desk.arrive(address, { amount: 1_000n, block: 5n });
    expect(await desk.swaps()).toEqual([]);
    desk.state.balance = 1_000n;
    desk.clock.advance(60_000);
    await pollUnsettledDeposits(desk.deps, 2);
    await pollUnsettledDeposits(desk.deps, 2);
    const swaps = await desk.swaps();
    expect(swaps.map((swap) => [swap.status, swap.amount])).toEqual([["pending_swap", "1000"]]);
    expect((await desk.deposits())[0]?.settlement_id).toBe(swaps[0]?.id);
  });

  test("a deposit mined again after a reorg passes the gate again [V9]", async () => {
    const desk = await openDesk();
    const address = await desk.issue("0x0b");
    desk.state.balance = 0n;
    await desk.arrive(address, { amount: 1_000n, block: 5n, tx: "a" });
    desk.state.balance = 1_000n;
    await desk.arrive(address, { amount: 1_000n, block: 7n, tx: "a" });
    await pollUnsettledDeposits(desk.deps, 2);
    expect((await desk.swaps()).length).toBe(1);
    expect((await desk.events()).length).toBe(1);
  });

  test("a deposit that stays below the minimum is polled with growing intervals", async () => {
    const desk = await openDesk();
    const address = await desk.issue("0x0c");
    desk.state.balance = 99n;
    await desk.arrive(address, { amount: 99n, block: 5n });
    const planned = new Set<string | null | undefined>();
    for (let i = 0; i < 200; i++) {
      desk.clock.advance(60_000);
      await pollUnsettledDeposits(desk.deps, 2);
      planned.add((await desk.deposits())[0]?.recheck_at);
    }
    expect(await desk.swaps()).toEqual([]);
    expect(planned.size).toBeLessThan(8);
  });

  test("a destination without an enabled route is reported as no_adapter", async () => {
    const desk = await openDesk();
    const address = await desk.issue("0x04");
    desk.state.balance = 1_000n;
    const deps = { ...desk.deps, routes: createRouteBook([]) };
    Object.assign(desk.deps, deps);
    await desk.arrive(address, { amount: 1_000n, block: 5n });
    expect(await desk.swaps()).toEqual([]);
    expect((await desk.events())[0]?.data).toMatchObject({
      queued: false,
      ignoredReason: "no_adapter",
    });
  });
});

describe("failures", () => {
  async function insertOutflow(desk: Desk, kind: "refunded" | "unattended") {
    const { wallet, token } = await desk.db
      .selectFrom("settlements")
      .select(["wallet", "token"])
      .executeTakeFirstOrThrow();
    await desk.db
      .insertInto("outflows")
      .values({
        chain_id: 2,
        block_number: 90n,
        block_hash: hashOf("a block"),
        log_index: 1,
        wallet,
        token,
        amount: 1_000n,
        kind,
        tx_hash: hashOf("a transaction of theirs"),
      })
      .execute();
  }

  async function openPending(hasCode: boolean) {
    const desk = await openDesk();
    const address = await desk.issue("0x07");
    desk.state.balance = 1_000n;
    desk.state.hasCode = hasCode;
    await desk.arrive(address, { amount: 1_000n, block: 90n });
    return { desk, address };
  }

  test("INSUFFICIENT_BALANCE of the inventory defers without using up a try, and recovers", async () => {
    const { desk } = await openPending(true);
    desk.state.reserves = "inventory_too_low";
    for (let i = 0; i < 12; i++) await desk.poll();
    const [deferred] = await desk.swaps();
    expect(deferred).toMatchObject({
      status: "failed_swap",
      retryCount: 12,
      error: { code: "INSUFFICIENT_BALANCE", retryable: true },
    });
    const row = await desk.db.selectFrom("settlements").selectAll().executeTakeFirstOrThrow();
    expect(row.attempts_used).toBe(0);
    expect(await desk.db.selectFrom("transactions").selectAll().execute()).toEqual([]);
    desk.state.reserves = "reserved";
    await desk.poll();
    expect((await desk.swaps())[0]).toMatchObject({ status: "swapping", error: null });
  });

  test.each([
    ["failed_swap", "swapping"],
    ["failed_deploy", "deploying"],
  ])(
    "a token in quarantine waits in its wallet as %s without using up a try, until an operator ends it [T159]",
    async (waits, goesOn) => {
      const { desk, address } = await openPending(waits === "failed_swap");
      const [{ token } = { token: "" }] = await desk.deposits();
      const holding = { wallet: toAddress(address.wallet), token: toAddress(token) };
      await recordFindings(desk.db, [
        toFinding("wallet_short", {
          chainId: 2,
          subject: `${holding.wallet}:${holding.token}`,
          details: {},
          holding,
        }),
      ]);
      for (let i = 0; i < 12; i++) await desk.poll();
      expect((await desk.swaps())[0]).toMatchObject({
        status: waits,
        error: { code: "NO_ROUTE", retryable: true, details: { reason: "quarantined" } },
      });
      const row = await desk.db.selectFrom("settlements").selectAll().executeTakeFirstOrThrow();
      expect(row.attempts_used).toBe(0);
      expect(await desk.db.selectFrom("transactions").selectAll().execute()).toEqual([]);
      const [breach] = await listBreaches(desk.db);
      const clock = { now: () => 0, sleep: async () => undefined };
      const end = { id: breach?.id ?? "", operator: "ann", reason: "the issuer explained it" };
      await endBreach({ db: desk.db, clock, ...REPAIRS }, end);
      await desk.poll();
      expect((await desk.swaps())[0]).toMatchObject({ status: goesOn, error: null });
    },
  );

  test("a wallet emptied by a refund ends its settlement once the refund is final", async () => {
    const { desk } = await openPending(true);
    desk.state.balance = 0n;
    await insertOutflow(desk, "refunded");
    for (let i = 0; i < 10; i++) await desk.poll();
    expect((await desk.swaps())[0]).toMatchObject({
      status: "failed_swap",
      error: { code: "INSUFFICIENT_BALANCE", retryable: true },
    });
    desk.state.finalNumber = 90n;
    await desk.poll();
    expect((await desk.swaps())[0]).toMatchObject({
      status: "dead",
      error: { code: "INSUFFICIENT_BALANCE", retryable: false, details: { reason: "refunded" } },
    });
  });

  test("a wallet that somebody else settled ends its settlement with that reason [T123]", async () => {
    const { desk } = await openPending(true);
    const [swap] = await desk.swaps();
    await insertOutflow(desk, "unattended");
    desk.state.balance = 0n;
    desk.state.finalNumber = 90n;
    for (let i = 0; i < 5; i++) await desk.poll();
    expect((await desk.swaps())[0]).toMatchObject({
      id: swap?.id,
      status: "dead",
      error: { code: "INSUFFICIENT_BALANCE", details: { reason: "settled_unattended" } },
    });
  });

  test("a single empty answer after waits for another cause ends nothing [T190]", async () => {
    const { desk } = await openPending(true);
    desk.state.finalNumber = 90n;
    desk.state.reserves = "inventory_too_low";
    for (let i = 0; i < 5; i++) await desk.poll();
    const { balance } = desk.state;
    desk.state.balance = 0n;
    await desk.poll();
    desk.state.balance = balance;
    desk.state.reserves = "reserved";
    await desk.poll();
    expect((await desk.swaps())[0]).toMatchObject({ status: "swapping", error: null });
  });

  test("orphaned deposits defer with REORG and end with it once the reorg is final [T44]", async () => {
    const { desk } = await openPending(true);
    desk.state.balance = 0n;
    await desk.db
      .updateTable("deposits")
      .set({ orphaned_at: "2026-01-01T00:00:00.000Z" })
      .execute();
    for (let i = 0; i < 5; i++) await desk.poll();
    expect((await desk.swaps())[0]).toMatchObject({
      status: "failed_swap",
      error: { code: "REORG", retryable: true },
    });
    desk.state.finalNumber = 90n;
    await desk.poll();
    expect((await desk.swaps())[0]).toMatchObject({
      status: "dead",
      error: { code: "REORG", retryable: false },
    });
  });

  test("a reverted sweep is replanned only once the revert is final, so two sweeps are never open [X3]", async () => {
    const { desk } = await openPending(true);
    await desk.poll();
    await desk.mine("sweep:", false, "mined");
    await desk.poll();
    await desk.poll();
    expect((await desk.swaps())[0]?.status).toBe("swapping");
    // On the surviving branch the same bytes succeed.
    desk.state.swept = 1_000n;
    desk.state.balance = 0n;
    await desk.mine("sweep:", true);
    desk.state.delivery = { kind: "delivered", txHash: hashOf("delivery"), amount: 999n };
    await desk.poll();
    expect((await desk.swaps())[0]?.status).toBe("completed");
    expect((await desk.db.selectFrom("transactions").selectAll().execute()).length).toBe(1);
  });

  describe("dust that arrives before a sweep is mined", () => {
    test("uses up no try, however often it arrives", async () => {
      const { desk } = await openPending(true);
      desk.state.metMore = true;
      for (let sent = 1; sent <= 9; sent += 1) {
        await desk.poll();
        await desk.mine("sweep:", false);
        await desk.poll();
        const [swap] = await desk.swaps();
        expect(swap).toMatchObject({ status: "failed_swap", error: { code: "RPC_UNAVAILABLE" } });
      }
      const row = await desk.db
        .selectFrom("settlements")
        .select(["attempts_used", "sweeps_sent", "planned_amount"])
        .executeTakeFirstOrThrow();
      expect(row).toEqual({ attempts_used: 0, sweeps_sent: 9, planned_amount: null });
      // Each of them is kept, so that its gas cost is posted.
      expect((await desk.db.selectFrom("transactions").selectAll().execute()).length).toBe(9);
    });

    const plannedAmounts = async (balance: bigint) => {
      const { desk } = await openPending(true);
      Object.assign(desk.state, { metMore: true, spare: 400n, balance });
      const amounts: (string | null)[] = [];
      for (let sent = 1; sent <= 5; sent += 1) {
        await desk.poll();
        const { planned_amount: planned } = await desk.db
          .selectFrom("settlements")
          .select("planned_amount")
          .executeTakeFirstOrThrow();
        amounts.push(planned);
        await desk.mine("sweep:", false);
        await desk.poll();
      }
      return amounts;
    };

    test("does not fail the fourth sweep, which leaves the account's minimum balance behind", async () => {
      expect(await plannedAmounts(1_000n)).toEqual(["1000", "1000", "1000", "600", "600"]);
    });

    test("does not reduce the sweep when more would be left than swept", async () => {
      expect(await plannedAmounts(799n)).toEqual(Array(5).fill("799"));
    });

    test("does not reduce the sweep of a settlement that waited for another reason", async () => {
      const { desk } = await openPending(true);
      Object.assign(desk.state, { spare: 400n, reserves: "inventory_too_low" });
      for (let polls = 1; polls <= 5; polls += 1) await desk.poll();
      desk.state.reserves = "reserved";
      await desk.poll();
      expect(await desk.db.selectFrom("settlements").select("planned_amount").execute()).toEqual([
        { planned_amount: "1000" },
      ]);
    });
  });

  test("the reservation of a sweep is released once its revert is final, and not before [V2]", async () => {
    const { desk } = await openPending(true);
    await desk.poll();
    await desk.mine("sweep:", false, "mined");
    await desk.poll();
    expect(desk.state.released).toEqual([]);
    await desk.mine("sweep:", false);
    await desk.poll();
    expect(desk.state.released).toEqual([(await desk.swaps())[0]?.id]);
  });

  test("a lock is recorded at a final block only, and its transaction hash is shown before", async () => {
    const { desk } = await openPending(true);
    await desk.poll();
    desk.state.swept = 1_000n;
    desk.state.delivery = { kind: "delivered", txHash: hashOf("delivery"), amount: 999n };
    await desk.mine("sweep:", true, "mined");
    await desk.poll();
    expect((await desk.swaps())[0]).toMatchObject({
      status: "swapping",
      swapTxHash: hashOf("sweep:"),
    });
    await desk.mine("sweep:");
    await desk.poll();
    expect((await desk.swaps())[0]?.status).toBe("completed");
  });

  test.each([
    { block: 101n, blockHash: toHex32(hashOf("next")) },
    // A reorg may replace a block by one at the same height.
    { block: 100n, blockHash: toHex32(hashOf("other")) },
  ])("a sweep mined again in another block is read again: $block [T65, T260]", async (moved) => {
    const { desk } = await openPending(true);
    desk.route.waitsForFinality = false;
    await desk.poll();
    desk.state.swept = 1_000n;
    await desk.mine("sweep:", true, "mined");
    await desk.poll();
    Object.assign(desk.state, moved);
    desk.state.swept = 700n;
    desk.state.balance = 300n;
    await desk.mine("sweep:", true, "mined");
    desk.state.delivery = { kind: "delivered", txHash: hashOf("delivery"), amount: 699n };
    await desk.poll();
    await desk.poll();
    const row = await desk.db
      .selectFrom("settlements")
      .selectAll()
      .where("status", "=", "completed")
      .executeTakeFirstOrThrow();
    expect([row.swept_amount, row.swept_block]).toEqual(["700", moved.block]);
    expect((await desk.swaps()).map((swap) => swap.status)).toEqual(["completed", "swapping"]);
  });

  test("the deposits of a completed settlement whose sweep finally reverted go to a new settlement", async () => {
    const { desk } = await openPending(true);
    desk.route.waitsForFinality = false;
    await desk.poll();
    desk.state.swept = 1_000n;
    desk.state.balance = 0n;
    await desk.mine("sweep:", true, "mined");
    desk.state.delivery = { kind: "delivered", txHash: hashOf("delivery"), amount: 999n };
    await desk.poll();
    expect((await desk.swaps())[0]?.status).toBe("completed");
    await desk.mine("sweep:", false, "final");
    desk.state.balance = 1_000n;
    await followCompleted(desk.deps, 2);
    await pollUnsettledDeposits(desk.deps, 2);
    const swaps = await desk.swaps();
    expect(swaps.map((swap) => swap.status)).toEqual(["completed", "pending_swap"]);
    expect(await desk.deposits()).toMatchObject([{ settlement_id: swaps[1]?.id }]);
  });

  test("a completed settlement whose sweep is mined again later also takes the deposits of the next one [T295]", async () => {
    const { desk, address } = await openPending(true);
    desk.route.waitsForFinality = false;
    await desk.poll();
    desk.state.swept = 1_000n;
    desk.state.balance = 0n;
    await desk.mine("sweep:", true, "mined");
    desk.state.delivery = { kind: "delivered", txHash: hashOf("delivery"), amount: 999n };
    await desk.poll();
    desk.state.balance = 1_500n;
    await desk.arrive(address, { amount: 500n, block: 102n, tx: "later" });
    const [first, next] = await desk.swaps();
    const ownersOf = async () => (await desk.deposits()).map((one) => one.settlement_id);
    expect(await ownersOf()).toEqual([first?.id, next?.id]);

    // The reorg undid the sweep; mined again after the second deposit, it took both.
    Object.assign(desk.state, { block: 105n, blockHash: toHex32(hashOf("later")), balance: 0n });
    desk.state.swept = 1_500n;
    await desk.mine("sweep:", true, "final");
    await followCompleted(desk.deps, 2);
    expect(await ownersOf()).toEqual([first?.id, first?.id]);
  });

  test("the deposits of a completed settlement whose lock was returned go to a new settlement [V9]", async () => {
    const { desk } = await openPending(true);
    await desk.poll();
    desk.state.swept = 1_000n;
    desk.state.balance = 0n;
    await desk.mine("sweep:");
    desk.state.delivery = { kind: "delivered", txHash: hashOf("delivery"), amount: 999n };
    await desk.poll();
    const [completed] = await desk.swaps();
    if (completed?.status !== "completed") throw new Error("it was delivered");
    // Its delivery was orphaned too late to be sent again.
    desk.state.balance = 1_000n;
    const given = { settlementId: completed.id, nowMs: desk.clock.now() };
    await desk.db.transaction().execute((tx) => recordUndeliveredLock(tx, given));
    await pollUnsettledDeposits(desk.deps, 2);
    expect((await desk.swaps()).map((swap) => swap.status)).toEqual(["completed", "pending_swap"]);
  });

  test("a settlement whose simulation keeps reverting is dead at the seventh try, with its error [M5]", async () => {
    const { desk } = await openPending(true);
    desk.state.simulation = { ok: false, reason: "Leftover" };
    for (let i = 0; i < 12; i++) await desk.poll();
    expect((await desk.swaps())[0]).toMatchObject({
      status: "dead",
      terminal: true,
      error: { code: "SIMULATION_REVERTED", retryable: false },
    });
    const statuses = (await desk.events()).flatMap((event) =>
      event.type === "status_changed" ? [event.data.status] : [],
    );
    expect(statuses).toEqual([...Array(6).fill("failed_swap"), "dead"]);
  });

  test.each([
    ["a pause", "IsPaused"],
    ["a relayer that is not listed", "NotRelayer"],
    ["a route that is not listed", "NotRoute"],
    ["the daily cap", "AboveDailyCap"],
    ["a removed attestor", "NotAttestor"],
    ["a threshold that is not reached", "TooFewSignatures"],
    ["an announced take-back", "TakeBackPending"],
    ["attestors that are missing", "TooFewAttestors"],
  ])(
    "a sweep that %s does not allow (%s) waits for hours without a try, and is made afterwards [T153]",
    async (_, reason) => {
      const { desk } = await openPending(true);
      desk.state.simulation = { ok: false, reason };
      for (let i = 0; i < 12; i++) await desk.poll();
      desk.clock.advance(3 * 3_600_000);
      await desk.poll();
      const [deferred] = await desk.swaps();
      const tries = await desk.db.selectFrom("settlements").select("attempts_used").execute();
      expect(tries).toEqual([{ attempts_used: 0 }]);
      expect(deferred).toMatchObject({ terminal: false, error: { code: "NO_ROUTE" } });
      expect(deferred?.error?.details).toEqual({ reason });
      desk.state.simulation = { ok: true, gas: 1n };
      await desk.poll();
      expect((await desk.swaps())[0]).toMatchObject({ status: "swapping" });
    },
  );

  test.each([true, false])(
    "a balance that the token reduced below its minimum deploys no wallet and sends nothing (deployed: %s) [T08]",
    async (hasCode) => {
      const { desk } = await openPending(hasCode);
      desk.state.balance = 99n;
      for (let i = 0; i < 9; i++) await desk.poll();
      const [swap] = await desk.swaps();
      const status = hasCode ? "failed_swap" : "failed_deploy";
      expect(swap).toMatchObject({ status, error: { code: "AMOUNT_TOO_SMALL" } });
      desk.state.balance = 100n;
      await desk.poll();
      expect((await desk.swaps())[0]?.status).toBe(hasCode ? "swapping" : "deploying");
    },
  );

  test("an amount below the recipient account's minimum is not swept until it reaches it", async () => {
    const { desk } = await openPending(true);
    let least = 1_001n;
    const asked: unknown[] = [];
    const destination = createStrictChain({
      chainId: 30,
      getLeastPayment: async (...about) => {
        asked.push(about);
        return least;
      },
    });
    Object.assign(desk.deps, { chains: new Map([...desk.deps.chains, [30, destination]]) });
    for (let polls = 1; polls <= 9; polls += 1) await desk.poll();
    expect((await desk.swaps())[0]).toMatchObject({
      status: "failed_swap",
      error: { code: "AMOUNT_TOO_SMALL", details: { reason: "recipient_account", least: "1001" } },
    });
    expect(await desk.db.selectFrom("transactions").selectAll().execute()).toEqual([]);
    expect(asked.at(-1)).toEqual([USDC, RECIPIENT]);
    least = 1_000n;
    await desk.poll();
    expect((await desk.swaps())[0]?.status).toBe("swapping");
  });

  test("a wallet that the token emptied is not deployed [T08]", async () => {
    const { desk } = await openPending(false);
    desk.state.balance = 0n;
    desk.state.finalNumber = 1_000n;
    const scan = (number: bigint) =>
      desk.db
        .insertInto("scanner_blocks")
        .values({ chain_id: 2, number, hash: hashOf(`${number}`), parent_hash: hashOf("parent") })
        .execute();
    await scan(999n);
    for (let i = 0; i < 9; i++) await desk.poll();
    // A refund may be in a block that is not scanned yet.
    expect((await desk.swaps())[0]).toMatchObject({
      status: "failed_deploy",
      error: { details: { reason: "wallet_empty" } },
    });
    await scan(1_000n);
    await desk.poll();
    expect((await desk.swaps())[0]).toMatchObject({
      status: "dead",
      error: { code: "INSUFFICIENT_BALANCE", details: { reason: "balance_gone" } },
    });
  });

  test("a settlement completes when the token fails after the delivery [T12]", async () => {
    const { desk } = await openPending(true);
    await desk.poll();
    desk.state.swept = 1_000n;
    desk.state.fails = true;
    const [first] = await desk.swaps();
    await desk.mine(`sweep:${first?.id}`);
    desk.state.delivery = { kind: "delivered", txHash: hashOf("delivery"), amount: 999n };
    await desk.poll();
    expect((await desk.swaps()).map((swap) => swap.status)).toEqual(["completed"]);
  });

  test("the next deposit after a dead settlement opens a settlement over the whole balance", async () => {
    const { desk, address } = await openPending(true);
    desk.state.simulation = { ok: false, reason: "Leftover" };
    for (let i = 0; i < 8; i++) await desk.poll();
    desk.state.balance = 1_200n;
    await desk.arrive(address, { amount: 200n, block: 200n });
    const swaps = await desk.swaps();
    expect(swaps.map((swap) => [swap.status, swap.amount])).toEqual([
      ["dead", "1000"],
      ["pending_swap", "1200"],
    ]);
  });

  test("the settlement after a dead one includes its deposits", async () => {
    const { desk, address } = await openPending(true);
    desk.state.simulation = { ok: false, reason: "Leftover" };
    for (let i = 0; i < 8; i++) await desk.poll();
    desk.state.simulation = { ok: true, gas: 1n };
    desk.state.balance = 1_200n;
    await desk.arrive(address, { amount: 200n, block: 95n });
    await desk.poll();
    desk.state.swept = 1_200n;
    desk.state.balance = 0n;
    const [, second] = await desk.swaps();
    await desk.mine(`sweep:${second?.id}`);
    desk.state.delivery = { kind: "delivered", txHash: hashOf("delivery"), amount: 1_199n };
    await desk.poll();
    expect((await desk.swaps()).map((swap) => swap.status)).toEqual(["dead", "completed"]);
    expect(new Set((await desk.deposits()).map((deposit) => deposit.settlement_id))).toEqual(
      new Set([second?.id]),
    );
  });

  test("a settlement goes on without a deployment hash when a third party deployed the wallet first", async () => {
    const { desk } = await openPending(false);
    expect((await desk.swaps())[0]?.status).toBe("pending_deploy");
    desk.state.hasCode = true;
    await desk.poll();
    const [first] = (await desk.events()).filter((event) => event.type === "status_changed");
    expect(first?.data).toMatchObject({
      prevStatus: "pending_deploy",
      status: "pending_swap",
      txHash: null,
    });
  });

  test("the first sweep deploys the wallet, and both are shown once it is mined", async () => {
    const { desk, address } = await openPending(false);
    await desk.poll();
    expect((await desk.swaps())[0]).toMatchObject({ status: "deploying", swapTxHash: null });
    const commitment = address.commitmentHash;
    desk.state.effects = [{ kind: "deployed", wallet: address.wallet, commitment }];
    await desk.mine("sweep:", true, "mined");
    await desk.poll();
    const txHash = hashOf("sweep:");
    expect((await desk.swaps())[0]).toMatchObject({ status: "swapping", swapTxHash: txHash });
    const steps = (await desk.events()).filter(({ type }) => type === "status_changed");
    expect(steps.map(({ data }) => data)).toMatchObject([
      { status: "deploying", txHash: null },
      { status: "pending_swap", txHash },
      { status: "swapping", txHash: null },
    ]);
    const intents = await desk.db.selectFrom("transactions").select("intent").execute();
    expect(intents.map(({ intent }) => intent.split(":")[0])).toEqual(["sweep"]);
  });

  test("a wallet that somebody else deployed meanwhile shows no deployment of ours", async () => {
    const { desk } = await openPending(false);
    await desk.poll();
    await desk.mine("sweep:");
    await desk.poll();
    const steps = (await desk.events()).filter(({ type }) => type === "status_changed");
    expect(steps.map(({ data }) => data)).toMatchObject([
      { status: "deploying" },
      { status: "pending_swap", txHash: null },
      { status: "swapping" },
    ]);
  });

  test("a wallet is deployed by itself while its sweep is not possible", async () => {
    const { desk } = await openPending(false);
    desk.state.reserves = "inventory_too_low";
    await desk.poll();
    expect((await desk.swaps())[0]?.status).toBe("deploying");
    await desk.mine("deploy:");
    desk.state.hasCode = true;
    await desk.poll();
    expect((await desk.swaps())[0]).toMatchObject({
      status: "failed_swap",
      error: { code: "INSUFFICIENT_BALANCE", details: { reason: "inventory_too_low" } },
    });
  });

  test("a reverted deployment uses up a try and is planned again under a new intent", async () => {
    const { desk } = await openPending(false);
    await desk.poll();
    await desk.mine("sweep:", false);
    await desk.poll();
    expect((await desk.swaps())[0]).toMatchObject({
      status: "failed_deploy",
      error: { code: "TX_REVERTED" },
    });
    await desk.poll();
    const intents = await desk.db.selectFrom("transactions").select("intent").execute();
    expect(intents.map(({ intent }) => intent.split(":").at(-1)).toSorted()).toEqual(["1", "2"]);
  });

  test("an edited row of a deposit address is refused before anything is signed [T112]", async () => {
    const { desk, address } = await openPending(true);
    const thief = toEvmAddress(`0x${"66".repeat(20)}`);
    for (const change of [
      { dest_wallet: thief },
      { dest_token: thief },
      { refund_authority: thief },
      { max_fee_bps: 9_999 },
      { dest_chain: 4 },
    ]) {
      const honest = await desk.db
        .selectFrom("addresses")
        .selectAll()
        .where("id", "=", address.id)
        .executeTakeFirstOrThrow();
      await desk.db.updateTable("addresses").set(change).where("id", "=", address.id).execute();
      await desk.poll();
      const [swap] = await desk.swaps();
      expect(swap?.status).toBe("failed_swap");
      expect(swap?.error?.code).toBe("CONFIG_MISSING");
      const { id: _id, fixed: _fixed, route_set: _set, ...columns } = honest;
      await desk.db.updateTable("addresses").set(columns).where("id", "=", address.id).execute();
    }
    expect(await desk.db.selectFrom("transactions").selectAll().execute()).toEqual([]);
    expect((await getAddressById(desk.db, address.id)).commitmentHash).toBe(address.commitmentHash);
  });

  test("a delivery error is shown while value is in flight, never ends the settlement, and clears [T80]", async () => {
    const { desk } = await openPending(true);
    await desk.poll();
    const [{ id } = { id: "" }] = await desk.swaps();
    desk.state.swept = 1_000n;
    await desk.mine(`sweep:${id}`);
    const error = new OperatingError("TX_REVERTED", "It reverted.");
    desk.state.delivery = { kind: "failing", error };
    for (let i = 0; i < 20; i++) await desk.poll();
    expect((await desk.swaps())[0]).toMatchObject({ status: "failed_swap", terminal: false });
    desk.state.delivery = { kind: "waiting" };
    await desk.poll();
    expect((await desk.swaps())[0]).toMatchObject({ status: "swapping", error: null });
    desk.state.balance = 0n;
    desk.state.delivery = { kind: "delivered", txHash: hashOf("delivery"), amount: 999n };
    await desk.poll();
    expect((await desk.swaps())[0]?.status).toBe("completed");
  });
});

describe("settlement rows", () => {
  test("the database rejects changes to a terminal settlement [M3]", async () => {
    const desk = await openDesk();
    const address = await desk.issue("0x08");
    desk.state.balance = 1_000n;
    await desk.arrive(address, { amount: 1_000n, block: 90n });
    desk.state.simulation = { ok: false, reason: "Leftover" };
    for (let i = 0; i < 8; i++) await desk.poll();
    const change = desk.db
      .updateTable("settlements")
      .set({ status: "pending_swap", error_code: null })
      .execute();
    await expect(change).rejects.toThrow("is terminal and cannot change");
  });
});
