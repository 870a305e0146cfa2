/** `kill -9` of the service, and a chain that loses and forks, with Solana on either side: each deposit is delivered once. */
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
  ["sweep.assigned", "wanted, and not signed", "solana", "base"],
  ["sweep.signed", "T60 signed and committed, not sent", "solana", "base"],
  ["sweep.sent", "T59 sent, not recorded", "solana", "base"],
  ["sweep.mined", "T59 mined, not recorded", "solana", "base"],
  ["claim.signed", "T60 signed and committed, not sent", "solana", "base"],
  ["claim.sent", "T59 sent, not recorded", "solana", "base"],
  ["deliver.signed", "T60 signed and committed, not sent", "base", "solana"],
  ["deliver.sent", "T59 sent, not recorded", "base", "solana"],
  ["deliver.mined", "T59 mined, not recorded", "base", "solana"],
] as const;

describe("kill -9", () => {
  test.each(POINTS)(
    "at %s (%s), then a start, delivers exactly once",
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

describe("T39 T41 a chain", () => {
  test.each([
    ["that forgets what it was sent", () => world.controls.dropNextSends(1)],
    ["whose newest blocks vanish", () => world.controls.fork({ blocks: 3 })],
    ["that forks", () => world.controls.fork({ blocks: 6, replay: true })],
    ["that skips slots", () => world.controls.skipSlots(40)],
    ["that limits rates", () => world.controls.rateLimitNext(3)],
    [
      "that says of blocks that they were skipped",
      () => world.controls.failNext({ method: "getBlock", code: -32007, message: "skipped" }),
    ],
  ])("%s while it settles delivers once, both ways", async (_, trouble) => {
    const there = await world.depositUsdc("solana", "base", AMOUNT);
    const back = await world.depositUsdc("base", "solana", AMOUNT);
    // What leaves the chain before it is final is no deposit; here it is what we send that does.
    await world.until("the deposit is final", async () => {
      const [deposit] = await world.depositsOf(there.address);
      return deposit !== undefined && deposit.blockNumber <= (await world.finalSlot());
    });
    for (let round = 0; round < 4; round += 1) {
      await trouble();
      await world.controls.tick(2);
    }
    for (const { address, paid } of [there, back]) {
      expect(await world.settled(address)).toMatchObject({ status: "completed", error: null });
      expect(await paid()).toBe(PAID);
      expect(await world.swapsOf(address)).toHaveLength(1);
    }
  });
});

test("finally the ledger matches the chains", async () => {
  const report = await world.audit();
  expect(report.breaches).toEqual([]);
  expect(report.ok).toBe(true);
});
