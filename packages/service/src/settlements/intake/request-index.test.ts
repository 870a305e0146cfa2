/** Requests to index a wallet, against real PostgreSQL. */
import { describe, expect, test } from "vitest";
import { type Desk, openDesk, USDC } from "../../../test/support/settlement-desk.ts";
import type { DepositAddress } from "../../addresses/index.ts";
import { setLimits } from "../../integrators/index.ts";
import { toEvmAddress } from "../../core/hex.ts";
import { createIndexRequests, requestIndex } from "./request-index.ts";

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

  test("of a wallet where nothing moved read its chain once in two seconds [T204]", async () => {
    const desk = await openDesk();
    const address = await desk.issue("0x20");
    let reads = 0;
    desk.state.meanwhile = async () => void (reads += 1);
    const repeat = createIndexRequests(desk.deps);
    const askAgain = () => repeat({ chainId: 2, address, token: USDC });
    const tooLittle = { queued: false, reason: "below_token_min" };
    desk.state.balance = 0n;
    for (let n = 0; n < 50; n += 1) expect(await askAgain()).toEqual(tooLittle);
    expect(await Promise.all(Array.from({ length: 50 }, askAgain))).toContainEqual(tooLittle);
    expect(reads).toBe(1);
    desk.state.balance = 1_000n;
    desk.clock.advance(1_999);
    expect(await askAgain()).toEqual(tooLittle);
    desk.clock.advance(1);
    expect(await askAgain()).toMatchObject({ queued: true });
    expect(reads).toBe(2);
    // The settlement ends within the two seconds: an earlier read no longer counts.
    await desk.db
      .updateTable("settlements")
      .set({ status: "completed", step: "done", next_check_at: null })
      .execute();
    desk.state.balance = 0n;
    expect(await askAgain()).toEqual(tooLittle);
    expect(reads).toBe(3);
    expect(await desk.swaps()).toHaveLength(1);
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

  test("for a token without a route are refused, and create nothing [T160]", async () => {
    const desk = await openDesk();
    const address = await desk.issue("0x24");
    desk.state.balance = 1_000n;
    desk.state.minimums = { token: undefined, floor: undefined };
    desk.state.meanwhile = () => Promise.reject(new Error("expected no request to a node"));
    for (let nr = 0; nr < 300; nr++) {
      const unlisted = toEvmAddress(`0x${nr.toString(16).padStart(40, "9")}`);
      desk.state.codeAt.add(unlisted);
      await expect(ask(desk, address, unlisted)).rejects.toMatchObject({
        code: "UNSUPPORTED_ROUTE",
        retryable: false,
        details: { field: "tokenAddress", destChain: 30 },
      });
    }
    expect(await desk.swaps()).toEqual([]);
    expect(await desk.events()).toEqual([]);
  });

  test("for an address whose fixed routes take nothing are refused [T160]", async () => {
    const desk = await openDesk();
    const other = toEvmAddress(`0x${"0f".repeat(20)}`);
    const address = await desk.issue("0x29", [{ chainId: 2, evmChainId: 900002, route: other }]);
    desk.state.balance = 1_000n;
    await expect(ask(desk, address)).rejects.toMatchObject({ code: "UNSUPPORTED_ROUTE" });
    expect(await desk.swaps()).toEqual([]);
  });

  test("queue a token of a chain where accounts have no code", async () => {
    const desk = await openDesk();
    const address = await desk.issue("0x28");
    desk.turnIntoVaults();
    desk.state.balance = 1_000n;
    expect(await ask(desk, address)).toMatchObject({ queued: true });
    expect(await desk.swaps()).toMatchObject([{ status: "pending_settle" }]);
  });

  test("for a token without code queue nothing", async () => {
    const desk = await openDesk();
    const address = await desk.issue("0x25");
    desk.state.hasCode = false;
    desk.state.codeAt.delete(USDC);
    desk.state.balance = 1_000n;
    expect(await ask(desk, address)).toEqual({ queued: false, reason: "below_token_min" });
  });

  test("above the integrator's quota are refused until a settlement ended, or the quota is raised [T161]", async () => {
    const desk = await openDesk();
    desk.state.balance = 1_000n;
    const addresses = await Promise.all(["0x31", "0x32", "0x33"].map((user) => desk.issue(user)));
    await setLimits(desk.db, { integrator: "acme", limits: { openSettlements: 2 } });
    const answers = await Promise.allSettled(addresses.map((address) => ask(desk, address)));
    const refused = answers.filter((answer) => answer.status === "rejected");
    expect(refused.map(({ reason }) => reason)).toMatchObject([
      {
        code: "RPC_UNAVAILABLE",
        httpStatus: 429,
        details: { reason: "quota_exceeded", quota: "openSettlements", limit: 2 },
      },
    ]);
    expect(await desk.swaps()).toHaveLength(2);
    await setLimits(desk.db, { integrator: "acme", limits: { openSettlements: null } });
    const again = await Promise.all(addresses.map((address) => ask(desk, address)));
    expect(again.filter(({ queued }) => queued)).toHaveLength(1);
  });
});
