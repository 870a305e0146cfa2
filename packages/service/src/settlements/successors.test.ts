/** Deposits that arrive while a settlement of their wallet and token is active. */
import { describe, expect, test } from "vitest";
import { toHex32 } from "../core/hex.ts";
import { hashOf } from "../../test/support/doubles.ts";
import { openDesk } from "../../test/support/settlement-desk.ts";
import { followCompleted } from "./followers/completed.ts";

describe("a deposit while a settlement is active", () => {
  async function openSwapping() {
    const desk = await openDesk();
    const address = await desk.issue("0x05");
    desk.state.balance = 1_000n;
    await desk.arrive(address, { amount: 1_000n, block: 90n });
    await desk.poll();
    const [swap] = await desk.swaps();
    if (!swap) throw new Error("there is a settlement");
    expect(swap.status).toBe("swapping");
    return { desk, address, id: swap.id };
  }

  test("joins the settlement when its sweep is not sent yet", async () => {
    const desk = await openDesk();
    const address = await desk.issue("0x06");
    desk.state.balance = 1_000n;
    await desk.arrive(address, { amount: 1_000n, block: 90n });
    desk.state.balance = 1_001n;
    await desk.arrive(address, { amount: 1n, block: 91n });
    const events = await desk.events();
    expect(events.map((event) => event.data)).toMatchObject([{ queued: true }, { queued: true }]);
    expect((await desk.swaps()).length).toBe(1);
  });

  test("gets a settlement of its own when the sweep is already sent [T75]", async () => {
    const { desk, address, id } = await openSwapping();
    desk.state.balance = 1_500n;
    await desk.arrive(address, { amount: 500n, block: 101n });
    desk.state.swept = 1_000n;
    desk.state.balance = 500n;
    await desk.mine(`sweep:${id}`);
    desk.state.delivery = { kind: "delivered", txHash: hashOf("delivery"), amount: 999n };
    await desk.poll();
    const swaps = await desk.swaps();
    expect(swaps.map((swap) => [swap.status, swap.amount])).toEqual([
      ["completed", "1000"],
      ["pending_swap", "500"],
    ]);
    const deposits = await desk.deposits();
    expect(deposits.map((deposit) => deposit.settlement_id)).toEqual([id, swaps[1]?.id]);
  });

  test("has no successor while a node that lags still shows the swept balance [T190]", async () => {
    const { desk, id } = await openSwapping();
    desk.state.swept = 1_000n;
    desk.state.balance = 1_000n;
    await desk.mine(`sweep:${id}`);
    desk.state.delivery = { kind: "delivered", txHash: hashOf("delivery"), amount: 999n };
    await desk.poll();
    expect((await desk.swaps()).map((swap) => swap.status)).toEqual(["completed"]);
  });

  test("belongs to the sweep when it is earlier on the chain, and no successor is created", async () => {
    const { desk, address, id } = await openSwapping();
    desk.state.balance = 1_500n;
    await desk.arrive(address, { amount: 500n, block: 99n });
    desk.state.swept = 1_500n;
    desk.state.balance = 0n;
    await desk.mine(`sweep:${id}`);
    desk.state.delivery = { kind: "delivered", txHash: hashOf("delivery"), amount: 1_499n };
    await desk.poll();
    expect((await desk.swaps()).map((swap) => swap.status)).toEqual(["completed"]);
    expect(new Set((await desk.deposits()).map((deposit) => deposit.settlement_id))).toEqual(
      new Set([id]),
    );
  });

  test("is reassigned when a reorg moves it before or after the recorded sweep", async () => {
    const { desk, address, id } = await openSwapping();
    const owners = async () => (await desk.deposits()).map((deposit) => deposit.settlement_id);
    desk.state.balance = 1_500n;
    await desk.arrive(address, { amount: 500n, block: 101n, tx: "late" });
    desk.state.swept = 1_500n;
    desk.state.balance = 0n;
    await desk.mine(`sweep:${id}`);
    desk.state.delivery = { kind: "delivered", txHash: hashOf("delivery"), amount: 1_499n };
    await desk.poll();
    expect(await owners()).toEqual([id, null]);
    // A reorg: the scanner now finds the transfer before the sweep, and after a second reorg behind it.
    await desk.arrive(address, { amount: 500n, block: 98n, tx: "late" });
    expect(await owners()).toEqual([id, id]);
    await desk.arrive(address, { amount: 500n, block: 102n, tx: "late" });
    expect(await owners()).toEqual([id, null]);
  });

  test("is queued with a sweep that was planned with it before it was scanned [T319]", async () => {
    const desk = await openDesk();
    const address = await desk.issue("0x07");
    desk.state.balance = 1_000n;
    await desk.arrive(address, { amount: 1_000n, block: 90n });
    desk.state.balance = 1_500n;
    await desk.poll();
    const swap = await desk.db
      .selectFrom("settlements")
      .select(["id", "status", "planned_amount"])
      .executeTakeFirstOrThrow();
    expect(swap).toMatchObject({ status: "swapping", planned_amount: "1500" });
    await desk.arrive(address, { amount: 500n, block: 95n, tx: "planned" });
    expect((await desk.deposits()).at(-1)).toMatchObject({ settlement_id: swap.id });
    // A few units more, which no plan covers, wait.
    desk.state.balance = 1_599n;
    await desk.arrive(address, { amount: 99n, block: 96n, tx: "dust" });
    const detected = (await desk.events()).filter(({ type }) => type === "deposit_detected");
    expect(detected.map(({ data }) => data)).toMatchObject([
      { queued: true },
      { queued: true },
      { queued: false, ignoredReason: "below_token_min" },
    ]);
  });

  test("is reported with the ignore reason when its amount is below the minimum", async () => {
    const { desk, address } = await openSwapping();
    desk.state.balance = 1_099n;
    await desk.arrive(address, { amount: 99n, block: 101n });
    expect((await desk.events()).at(-1)?.data).toMatchObject({
      queued: false,
      ignoredReason: "below_token_min",
    });
  });

  test("is queued with the sweep that took it when it was swept before it was scanned", async () => {
    const { desk, address, id } = await openSwapping();
    desk.state.swept = 1_500n;
    desk.state.balance = 0n;
    await desk.mine(`sweep:${id}`);
    desk.state.delivery = { kind: "delivered", txHash: hashOf("delivery"), amount: 1_499n };
    await desk.poll();
    await desk.arrive(address, { amount: 500n, block: 99n });
    expect((await desk.events()).at(-1)).toMatchObject({
      type: "deposit_detected",
      data: { queued: true },
    });
    expect((await desk.deposits()).at(-1)?.settlement_id).toBe(id);
    expect((await desk.swaps()).length).toBe(1);
  });

  test("belongs to its own side of a sweep in the middle of its block, scanned after it [D1]", async () => {
    const { desk, address, id } = await openSwapping();
    desk.state.swept = 1_200n;
    desk.state.balance = 200n;
    await desk.mine(`sweep:${id}`);
    desk.state.delivery = { kind: "delivered", txHash: hashOf("delivery"), amount: 1_199n };
    await desk.poll();
    const { taken_block: block, taken_log_index: index } = await desk.db
      .selectFrom("settlements")
      .select(["taken_block", "taken_log_index"])
      .where("id", "=", id)
      .executeTakeFirstOrThrow();
    if (block === null || index === null) throw new Error("the sweep is recorded");
    await desk.arrive(address, { amount: 100n, block, times: index + 2 });
    const deposits = await desk.deposits();
    const sides = deposits
      .filter((deposit) => deposit.block_number === block)
      .map((deposit) => [deposit.log_index < index, deposit.settlement_id === id]);
    expect(new Set(sides.map(String))).toEqual(new Set(["true,true", "false,false"]));
  });

  describe.each(["swapping", "completed"] as const)(
    "of a sweep whose settlement is %s",
    (status) => {
      /** Opens a settlement whose sweep took everything, in block 100. */
      async function openSwept() {
        const opened = await openSwapping();
        const { desk, id } = opened;
        desk.route.waitsForFinality = false;
        desk.state.swept = 1_000n;
        desk.state.balance = 0n;
        await desk.mine(`sweep:${id}`, true, "mined");
        if (status === "completed") {
          desk.state.delivery = { kind: "delivered", txHash: hashOf("delivery"), amount: 999n };
        }
        await desk.poll();
        expect(await desk.swaps()).toMatchObject([{ status }]);
        return opened;
      }

      test("is queued when a reorg moved the sweep behind it [T301]", async () => {
        const { desk, address, id } = await openSwept();
        // The scanner reads the replacing block before the settlement reads the sweep's new receipt.
        await desk.arrive(address, { amount: 50n, block: 101n, tx: "replacing" });
        expect((await desk.events()).at(-1)).toMatchObject({
          type: "deposit_detected",
          data: { queued: true },
        });
        const ownerOf = async () =>
          (await desk.deposits()).find(({ tx_hash: hash }) => hash === hashOf("replacing"))
            ?.settlement_id;
        expect(await ownerOf()).toBe(null);
        desk.state.swept = 50n;
        desk.state.block = 102n;
        desk.state.blockHash = toHex32(hashOf("moved"));
        await desk.mine(`sweep:${id}`);
        await desk.poll();
        await followCompleted(desk.deps, 2);
        expect(await ownerOf()).toBe(id);
      });

      test("is below the minimum when a refund took it behind the sweep", async () => {
        const { desk, address, id } = await openSwept();
        await desk.takeOut(address, `sweep:${id}`);
        await desk.arrive(address, { amount: 50n, block: 101n });
        expect((await desk.events()).at(-1)?.data).toMatchObject({
          queued: false,
          ignoredReason: "below_token_min",
        });
      });
    },
  );

  test("does not give a later deposit to the sweep that took it [D1]", async () => {
    const { desk, address, id } = await openSwapping();
    desk.state.swept = 1_000n;
    desk.state.balance = 0n;
    await desk.mine(`sweep:${id}`);
    desk.state.delivery = { kind: "delivered", txHash: hashOf("delivery"), amount: 999n };
    await desk.poll();
    const { taken_block: block } = await desk.db
      .selectFrom("settlements")
      .select("taken_block")
      .where("id", "=", id)
      .executeTakeFirstOrThrow();
    if (block === null) throw new Error("the sweep is recorded");
    // Too small for a settlement of its own, and after the sweep.
    await desk.arrive(address, { amount: 1n, block: block + 1n, tx: "later" });
    await desk.arrive(address, { amount: 100n, block: block - 1n, tx: "earlier" });
    const settled = await desk.deposits();
    const ownerOf = (tx: string) =>
      settled.find(({ tx_hash: hash }) => hash === hashOf(tx))?.settlement_id;
    expect([ownerOf("earlier"), ownerOf("later")]).toEqual([id, null]);
  });
});
