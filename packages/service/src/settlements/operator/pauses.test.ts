/** Pauses by an operator, against real PostgreSQL. */
import { describe, expect, test } from "vitest";
import { hashOf } from "../../../test/support/doubles.ts";
import { type Desk, openDesk, RECIPIENT, USDC } from "../../../test/support/settlement-desk.ts";
import { createSettlementsPoll } from "../advance.ts";
import { createHeldPoll } from "../waiting/held.ts";
import { endPause, listPauses, type PauseTarget, startPause } from "./pauses.ts";

const RECORD = { operator: "ann@host", reason: "an incident at the issuer" };

const pause = (desk: Desk, target: PauseTarget) => startPause(desk.deps, target, RECORD);
const resume = (desk: Desk, target: PauseTarget) =>
  endPause(desk.db, target, { operator: "bob@host", reason: "repaired", nowMs: desk.clock.now() });

async function arrive(desk: Desk) {
  const address = await desk.issue("0x01");
  desk.state.balance = 1_000n;
  await desk.arrive(address, { amount: 1_000n, block: 5n });
}

const TARGETS: readonly (readonly [string, (desk: Desk) => PauseTarget])[] = [
  ["an integrator", ({ integratorId }) => ({ scope: "integrator", integratorId })],
  ["a chain", () => ({ scope: "chain", chainId: 2 })],
  ["a token", () => ({ scope: "token", chainId: 2, token: USDC })],
  ["a kind of route", () => ({ scope: "route", chainId: 2, route: "SWIFT" })],
];

describe("a pause", () => {
  test.each(TARGETS)(
    "of %s defers detected deposits without a try, until it ends [T163]",
    async (_, targetOf) => {
      const desk = await openDesk();
      const target = targetOf(desk);
      expect(await pause(desk, target)).toBe(true);
      expect(await pause(desk, target)).toBe(false);
      await arrive(desk);
      expect(await desk.deposits()).toMatchObject([{ queued: true }]);
      for (let nr = 0; nr < 10; nr++) await desk.poll();
      const [swap] = await desk.swaps();
      expect(swap).toMatchObject({
        terminal: false,
        retryCount: 0,
        error: {
          code: "CONFIG_MISSING",
          retryable: true,
          details: { reason: "paused", scope: target.scope },
        },
      });
      expect(JSON.stringify(swap)).not.toContain("issuer");
      const row = await desk.db
        .selectFrom("settlements")
        .select(["attempts_used", "planned_amount"])
        .executeTakeFirstOrThrow();
      expect(row).toEqual({ attempts_used: 0, planned_amount: null });
      expect(await resume(desk, target)).toBe(true);
      expect(await resume(desk, target)).toBe(false);
      await createHeldPoll(desk.deps, 2)();
      await createSettlementsPoll(desk.deps, 2)();
      expect(await desk.swaps()).toMatchObject([{ status: "swapping", error: null }]);
      expect(await listPauses(desk.db, { all: false })).toEqual([]);
      expect(await listPauses(desk.db, { all: true })).toMatchObject([
        { ...RECORD, scope: target.scope, resumedBy: "bob@host", resumeReason: "repaired" },
      ]);
    },
  );

  test.each<readonly [string, PauseTarget]>([
    ["an integrator", { scope: "integrator", integratorId: crypto.randomUUID() }],
    ["a chain", { scope: "chain", chainId: 30 }],
    ["a token", { scope: "token", chainId: 2, token: RECIPIENT }],
    ["the token of a chain", { scope: "token", chainId: 30, token: USDC }],
    ["a kind of route", { scope: "route", chainId: 2, route: "FAST_MCTP" }],
  ])("of another %s defers nothing", async (_, target) => {
    const desk = await openDesk();
    await pause(desk, target);
    await arrive(desk);
    await desk.poll();
    expect(await desk.swaps()).toMatchObject([{ status: "swapping" }]);
  });

  test("lets value in flight be delivered", async () => {
    const desk = await openDesk();
    await arrive(desk);
    await desk.poll();
    await pause(desk, { scope: "chain", chainId: 2 });
    await desk.mine("sweep:");
    desk.state.swept = 1_000n;
    desk.state.balance = 0n;
    desk.state.delivery = { kind: "delivered", txHash: hashOf("delivery"), amount: 1_000n };
    await desk.poll();
    await desk.poll();
    expect(await desk.swaps()).toMatchObject([{ status: "completed" }]);
  });
});
