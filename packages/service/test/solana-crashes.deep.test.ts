/** `kill -9` of the service, and a Solana chain that drops and forks: each deposit is delivered once, in both directions. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openSolanaSandbox, type SolanaSandbox, USDC } from "./support/solana-sandbox.ts";

const AMOUNT = 9n * USDC;
const PAID = AMOUNT - AMOUNT / 1_000n;

let world: SolanaSandbox;
beforeAll(async () => {
  world = await openSolanaSandbox();
}, 120_000);
afterAll(() => world.close());

const POINTS = [
  ["scan.arrived", "the deposit is recorded, its block is not", "solana", "base"],
  ["sweep.assigned", "the intent is recorded, and not signed", "solana", "base"],
  ["sweep.signed", "signed and committed, not sent [T60]", "solana", "base"],
  ["sweep.sent", "sent, not recorded [T59]", "solana", "base"],
  ["sweep.mined", "mined, not recorded [T59]", "solana", "base"],
  ["claim.signed", "signed and committed, not sent [T60]", "solana", "base"],
  ["claim.sent", "sent, not recorded [T59]", "solana", "base"],
  ["deliver.signed", "signed and committed, not sent [T60]", "base", "solana"],
  ["deliver.sent", "sent, not recorded [T59]", "base", "solana"],
  ["deliver.mined", "mined, not recorded [T59]", "base", "solana"],
] as const;

describe("kill -9", () => {
  test.each(POINTS)(
    "at %s (%s): delivers exactly once after a restart",
    async (point, _, from, to) => {
      await world.restart({ SLUICE_CRASH_AT: point });
      const { address, paid } = await world.depositUsdc(from, to, AMOUNT);
      expect(await world.serviceDeath()).toBe("SIGKILL");
      await world.restart();
      expect(await world.settled(address)).toMatchObject({ status: "completed", error: null });
      expect(await paid()).toBe(PAID);
      expect(await world.swapsOf(address)).toHaveLength(1);
    },
  );
});

describe("a chain", () => {
  test.each([
    ["that drops sent transactions", () => world.controls.dropNextSends(1)],
    ["that loses its newest blocks", () => world.controls.fork({ blocks: 3 })],
    ["that forks", () => world.controls.fork({ blocks: 6, replay: true })],
    ["that skips slots", () => world.controls.skipSlots(40)],
    ["that limits the request rate", () => world.controls.rateLimitNext(3)],
    [
      "that reports blocks as skipped",
      () => world.controls.failNext({ method: "getBlock", code: -32007, message: "skipped" }),
    ],
  ])(
    "%s during a settlement delivers once, in both directions [T39, T41]",
    async (_, causeFault) => {
      const there = await world.depositUsdc("solana", "base", AMOUNT);
      const back = await world.depositUsdc("base", "solana", AMOUNT);
      // A deposit that is orphaned before finality is not paid; here only our own transactions are orphaned.
      await world.until("the deposit is final", async () => {
        const [deposit] = await world.depositsOf(there.address);
        return deposit !== undefined && deposit.blockNumber <= (await world.finalSlot());
      });
      for (let round = 0; round < 4; round += 1) {
        await causeFault();
        await world.controls.tick(2);
      }
      for (const { address, paid } of [there, back]) {
        expect(await world.settled(address)).toMatchObject({ status: "completed", error: null });
        expect(await paid()).toBe(PAID);
        expect(await world.swapsOf(address)).toHaveLength(1);
      }
    },
  );
});

test("finally the ledger matches the chains", async () => {
  const report = await world.audit();
  expect(report.breaches).toEqual([]);
  expect(report.ok).toBe(true);
});
