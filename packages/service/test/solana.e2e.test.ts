/** Deposits from and to Solana with real programs, nodes, contracts, database and sockets. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { afterFee } from "./support/deposits.ts";
import { expectClaimedAndProved } from "./support/solana-books.ts";
import { openSolanaSandbox, type SolanaSandbox, USDC } from "./support/solana-sandbox.ts";

/** An empty wallet on Solana. */
const RECIPIENT = "ALaVUuQzVcS7MMTkqas9ZW8MymnEphYF2CC6PaeeMRS9";

let world: SolanaSandbox;
/** The treasury's balance before any claim. */
let treasuryLamports: bigint;
beforeAll(async () => {
  world = await openSolanaSandbox();
  treasuryLamports = await world.solanaBalance(world.treasury);
}, 120_000);
afterAll(() => world.close());

test("USDC on Solana arrives as USDC on ethereum, twice, from a verified vault", async () => {
  const recipient = world.newEvmWallet();
  const token = world.tokenOn("ethereum");
  const mint = world.mintOf("USDC");
  const asked = {
    fromChain: "solana",
    fromToken: mint,
    toChain: "ethereum",
    toToken: token,
    recipient,
    amount: 25n * USDC,
  };
  const { address, quote } = await world.quote(asked);
  expect(world.verify(quote, address, { recipient, token })).toEqual({ kind: "ok" });
  await world.payTokens(mint, address, 25n * USDC);
  const swap = await world.settled(address);
  expect(swap).toMatchObject({ status: "completed", error: null, chainId: 1, destChain: "2" });
  expect(await world.statuses(swap.id)).toEqual(["settling", "completed"]);
  expect(await world.evmBalance("ethereum", recipient, token)).toBe(afterFee(25n * USDC));
  expect(await world.solanaBalance(address, mint)).toBe(0n);

  expect((await world.quote(asked)).address).toBe(address);
  await world.payTokens(mint, address, 7n * USDC);
  await world.settled(address, [swap.id]);
  expect(await world.evmBalance("ethereum", recipient, token)).toBe(
    afterFee(25n * USDC) + afterFee(7n * USDC),
  );
});

test("USDC on ethereum arrives in a token account created for it", async () => {
  const token = world.tokenOn("ethereum");
  const { address } = await world.quote({
    fromChain: "ethereum",
    fromToken: token,
    toChain: "solana",
    toToken: world.mintOf("USDC"),
    recipient: RECIPIENT,
    amount: 25n * USDC,
  });
  await world.payEvm("ethereum", address, 25n * USDC, token);
  const swap = await world.settled(address);
  expect(swap).toMatchObject({ status: "completed", error: null, destChain: "1" });
  expect(await world.solanaBalance(RECIPIENT, world.mintOf("USDC"))).toBe(afterFee(25n * USDC));
});

test("every lock is claimed to the treasury, and the ledger matches the chains", () =>
  expectClaimedAndProved(world, {
    lamportsBefore: treasuryLamports,
    brought: { usdc: 25n * USDC + 7n * USDC, wsol: 0n, lamports: 0n },
    walletsMin: 1,
  }));
