/** `kill -9` of the service, and a chain that loses and forks, with Solana on either side: each deposit is delivered once. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openSolanaSandbox, type SolanaSandbox } from "./support/solana-sandbox.ts";

const USDC = 1_000_000n;
const AMOUNT = 9n * USDC;
const PAID = AMOUNT - AMOUNT / 1_000n;

let world: SolanaSandbox;
beforeAll(async () => {
  world = await openSolanaSandbox();
}, 120_000);
afterAll(() => world.close());

/** A deposit of USDC on Solana for a wallet on base; `paid` is what that wallet has. */
async function fromSolana() {
  const recipient = world.newEvmWallet();
  const [mint, token] = [world.mintOf("USDC"), world.tokenOn("base")];
  const { address } = await world.quote({
    fromChain: "solana",
    fromToken: mint,
    toChain: "base",
    toToken: token,
    recipient,
    amount: AMOUNT,
  });
  await world.payTokens(mint, address, AMOUNT);
  return { address, paid: () => world.evmBalance("base", recipient, token) };
}

let users = 0;

/** The other way: for a wallet on Solana, the same each time. */
async function toSolana() {
  const recipient = "ALaVUuQzVcS7MMTkqas9ZW8MymnEphYF2CC6PaeeMRS9";
  const [mint, token] = [world.mintOf("USDC"), world.tokenOn("base")];
  const { address } = await world.quote({
    fromChain: "base",
    fromToken: token,
    toChain: "solana",
    toToken: mint,
    recipient,
    amount: AMOUNT,
    userId: `0x${(users += 1).toString(16)}`,
  });
  const before = await world.solanaBalance(recipient, mint);
  await world.payEvm("base", address, AMOUNT, token);
  return { address, paid: async () => (await world.solanaBalance(recipient, mint)) - before };
}

const POINTS = [
  ["scan.arrived", "the deposit is recorded, its block is not", fromSolana],
  ["sweep.assigned", "wanted, and not signed", fromSolana],
  ["sweep.signed", "T60 signed and committed, not sent", fromSolana],
  ["sweep.sent", "T59 sent, not recorded", fromSolana],
  ["sweep.mined", "T59 mined, not recorded", fromSolana],
  ["claim.signed", "T60 signed and committed, not sent", fromSolana],
  ["claim.sent", "T59 sent, not recorded", fromSolana],
  ["deliver.signed", "T60 signed and committed, not sent", toSolana],
  ["deliver.sent", "T59 sent, not recorded", toSolana],
  ["deliver.mined", "T59 mined, not recorded", toSolana],
] as const;

describe("kill -9", () => {
  test.each(POINTS)(
    "at %s (%s), then a start, delivers exactly once",
    async (point, _, deposit) => {
      await world.restart({ SLUICE_CRASH_AT: point });
      const { address, paid } = await deposit();
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
    const there = await fromSolana();
    const back = await toSolana();
    await world.until("the deposit is seen", async () => (await world.deposits(there.address)) > 0);
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

test("in the end the ledger is what the chains say", async () => {
  const report = await world.audit();
  expect(report.breaches).toEqual([]);
  expect(report.ok).toBe(true);
});
