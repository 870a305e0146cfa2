/** Requests to index a wallet, against real PostgreSQL. */
import { describe, expect, test } from "vitest";
import { type Desk, openDesk, USDC } from "../../../test/support/settlement-desk.ts";
import type { DepositAddress } from "../../addresses/index.ts";
import { toEvmAddress } from "../../core/hex.ts";
import { requestIndex } from "./request-index.ts";

describe("requests", () => {
  const ask = (desk: Desk, address: DepositAddress, token = USDC) =>
    requestIndex(desk.deps, { chainId: 2, address, token });

  test("queue the balance, or return the reason for not queuing it", async () => {
    const desk = await openDesk();
    const address = await desk.issue("0x21");
    desk.state.balance = 99n;
    expect(await ask(desk, address)).toEqual({ queued: false, reason: "below_token_min" });
    desk.state.balance = 100n;
    const queued = await ask(desk, address);
    expect(queued).toMatchObject({ queued: true });
    expect(await ask(desk, address)).toEqual({ queued: false, reason: "already_queued" });
    expect(await desk.swaps()).toMatchObject([{ amount: null, status: "pending_swap" }]);
    expect(await desk.events()).toEqual([]);
  });

  test("queue one settlement when a hundred arrive at once [T97]", async () => {
    const desk = await openDesk();
    const address = await desk.issue("0x22");
    desk.state.balance = 1_000n;
    const answers = await Promise.all(Array.from({ length: 100 }, () => ask(desk, address)));
    expect(answers.filter(({ queued }) => queued)).toHaveLength(1);
    expect(await desk.swaps()).toHaveLength(1);
  });

  test("read the balance again when a settlement was queued and completed during the first read", async () => {
    const desk = await openDesk();
    const address = await desk.issue("0x26");
    desk.state.balance = 1_000n;
    desk.state.meanwhile = async () => {
      desk.state.meanwhile = async () => {};
      await ask(desk, address);
      await desk.db
        .updateTable("settlements")
        .set({ status: "completed", step: "done", next_check_at: null })
        .execute();
      desk.state.meanwhile = async () => {
        desk.state.balance = 0n;
      };
    };
    expect(await ask(desk, address)).toEqual({ queued: false, reason: "below_token_min" });
    expect(await desk.swaps()).toHaveLength(1);
  });

  test("queue a deposit without a price, which waits without using up a try and goes on with the price", async () => {
    const desk = await openDesk();
    const address = await desk.issue("0x27");
    desk.state.balance = 1_000n;
    desk.state.minimums = { token: undefined, floor: "unpriced" };
    expect(await ask(desk, address)).toMatchObject({ queued: true });
    await desk.poll();
    expect(await desk.swaps()).toMatchObject([
      { error: { code: "PRICE_UNAVAILABLE", retryable: true } },
    ]);
    desk.state.minimums = { token: undefined, floor: 2_001n };
    desk.clock.advance(3_600_000);
    await desk.poll();
    expect(await desk.swaps()).toMatchObject([{ error: { code: "AMOUNT_TOO_SMALL" } }]);
    desk.state.minimums = { token: undefined, floor: 1_000n };
    desk.clock.advance(3_600_000);
    await desk.poll();
    expect(await desk.swaps()).toMatchObject([{ status: "swapping" }]);
  });

  test("include earlier deposits that were too small, and deposits scanned later join", async () => {
    const desk = await openDesk();
    const address = await desk.issue("0x23");
    desk.state.balance = 60n;
    await desk.arrive(address, { amount: 60n, block: 90n });
    expect((await desk.deposits())[0]).toMatchObject({ queued: false, settlement_id: null });
    desk.state.balance = 120n;
    const result = await ask(desk, address);
    // The scanner reaches the second deposit only now.
    await desk.arrive(address, { amount: 60n, block: 91n });
    const id = result.queued ? result.settlementId : "";
    expect(await desk.deposits()).toMatchObject([
      { settlement_id: id },
      { settlement_id: id, queued: true },
    ]);
    expect(await desk.swaps()).toHaveLength(1);
  });

  test("for a token without a route wait, and no wallet is deployed", async () => {
    const desk = await openDesk();
    const address = await desk.issue("0x24");
    desk.state.hasCode = false;
    desk.state.balance = 1_000n;
    const unlisted = toEvmAddress(`0x${"99".repeat(20)}`);
    desk.state.codeAt.add(unlisted);
    const result = await ask(desk, address, unlisted);
    expect(result.queued).toBe(true);
    await desk.poll();
    expect(await desk.swaps()).toMatchObject([
      { status: "failed_deploy", error: { code: "NO_ROUTE", retryable: true } },
    ]);
  });

  test("queue a token of a chain where accounts have no code", async () => {
    const desk = await openDesk();
    const address = await desk.issue("0x28");
    desk.turnIntoVaults();
    desk.state.balance = 1_000n;
    expect(await ask(desk, address)).toMatchObject({ queued: true });
    expect(await desk.swaps()).toMatchObject([{ status: "pending_settle" }]);
  });

  test("for an address that is no token queue nothing", async () => {
    const desk = await openDesk();
    const address = await desk.issue("0x25");
    desk.state.hasCode = false;
    desk.state.balance = 1_000n;
    const nothing = toEvmAddress(`0x${"98".repeat(20)}`);
    expect(await ask(desk, address, nothing)).toEqual({ queued: false, reason: "below_token_min" });
  });
});
