/** A deposit above the inventory that one address may reserve arrives in parts, with real programs, nodes and contracts. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { afterFee } from "./support/deposits.ts";
import { expectClaimedAndProved } from "./support/solana-books.ts";
import { openSolanaSandbox, type SolanaSandbox, USDC } from "./support/solana-sandbox.ts";

/** More than half of the inventory of a million, the share of an address. */
const AMOUNT = 600_000n * USDC;

let world: SolanaSandbox;
let lamportsBefore: bigint;
beforeAll(async () => {
  world = await openSolanaSandbox();
  lamportsBefore = await world.solanaBalance(world.treasury);
}, 120_000);
afterAll(() => world.close());

test("USDC above the share of its address arrives whole, in two settlements [T170]", async () => {
  const recipient = world.newEvmWallet();
  const token = world.tokenOn("ethereum");
  const mint = world.mintOf("USDC");
  const { address } = await world.quote({
    fromChain: "solana",
    fromToken: mint,
    toChain: "ethereum",
    toToken: token,
    recipient,
    amount: 25n * USDC,
  });
  await world.payTokens(mint, address, AMOUNT);
  const first = await world.settled(address);
  const second = await world.settled(address, [first.id]);
  expect([first.status, second.status]).toEqual(["completed", "completed"]);
  expect(await world.solanaBalance(address, mint)).toBe(0n);
  const half = 500_000n * USDC;
  expect(await world.evmBalance("ethereum", recipient, token)).toBe(
    afterFee(half) + afterFee(AMOUNT - half),
  );
});

test("both locks are claimed to the treasury, and the ledger matches the chains", () =>
  expectClaimedAndProved(world, {
    lamportsBefore,
    brought: { usdc: AMOUNT, wsol: 0n, lamports: 0n },
    walletsMin: 1,
  }));
