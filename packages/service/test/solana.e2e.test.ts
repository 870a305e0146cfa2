/** The main job with Solana on either side: real programs, real nodes, real contracts, database and sockets. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { verifyVault } from "@sluice/sdk";
import { openSolanaSandbox, SOL, type SolanaSandbox } from "./support/solana-sandbox.ts";

const USDC = 1_000_000n;
const LAMPORTS = 1_000_000_000n;
/** Ten basis points of a deposit, as the sandbox keeps them. */
const afterFee = (amount: bigint) => amount - amount / 1_000n;

let world: SolanaSandbox;
beforeAll(async () => {
  world = await openSolanaSandbox();
}, 120_000);
afterAll(() => world.close());

describe("from Solana", () => {
  test("USDC arrives as USDC on ethereum, and the lock is claimed", async () => {
    const recipient = world.newEvmWallet();
    const mint = world.mintOf("USDC");
    const { address, quote } = await world.quote({
      fromChain: "solana",
      fromToken: mint,
      toChain: "ethereum",
      toToken: world.tokenOn("ethereum"),
      recipient,
      amount: 25n * USDC,
    });
    const { payDepositCommitment: commitment } = quote;
    expect(commitment).toBeDefined();
    expect(verifyVault).toBeTypeOf("function");
    await world.controls.mintTo({
      mint: mint as never,
      owner: address as never,
      amount: 25n * USDC,
    });
    const swap = await world.settled(address);
    expect(swap).toMatchObject({ status: "completed", error: null, chainId: 1, destChain: "2" });
    expect(await world.statuses(swap.id)).toEqual(["settling", "completed"]);
    expect(await world.evmBalance("ethereum", recipient, world.tokenOn("ethereum"))).toBe(
      afterFee(25n * USDC),
    );
    expect(await world.solanaBalance(address, mint)).toBe(0n);
  });

  test("SOL arrives as USDC on base at its price", async () => {
    const recipient = world.newEvmWallet();
    const { address } = await world.quote({
      fromChain: "solana",
      fromToken: SOL,
      toChain: "base",
      toToken: world.tokenOn("base"),
      recipient,
      amount: LAMPORTS,
    });
    await world.controls.airdrop({ to: address as never, amount: LAMPORTS });
    const swap = await world.settled(address);
    expect(swap).toMatchObject({ status: "completed", error: null });
    expect(await world.evmBalance("base", recipient, world.tokenOn("base"))).toBe(
      afterFee(150n * USDC),
    );
    expect(await world.solanaBalance(address)).toBe(0n);
  });

  test("stays on Solana: to a wallet whose token account is not there yet", async () => {
    const recipient = "DY7TsvkE1kT8g4zVa4haEmw7UsAqFVPW1w7qmFa6u4SL";
    const mint = world.mintOf("USDT");
    const { address } = await world
      .quote({
        fromChain: "solana",
        fromToken: mint,
        toChain: "solana",
        toToken: mint,
        recipient,
        amount: 5n * USDC,
      })
      .catch((error: unknown) => {
        throw error;
      });
    await world.controls.mintTo({
      mint: mint as never,
      owner: address as never,
      amount: 5n * USDC,
    });
    const swap = await world.settled(address);
    expect(swap).toMatchObject({ status: "completed", error: null });
    expect(await world.solanaBalance(recipient, mint)).toBe(afterFee(5n * USDC));
  });
});

describe("to Solana", () => {
  test("USDC on ethereum arrives as USDC in a token account that is made for it", async () => {
    const recipient = "ALaVUuQzVcS7MMTkqas9ZW8MymnEphYF2CC6PaeeMRS9";
    const mint = world.mintOf("USDC");
    const { address } = await world.quote({
      fromChain: "ethereum",
      fromToken: world.tokenOn("ethereum"),
      toChain: "solana",
      toToken: mint,
      recipient,
      amount: 25n * USDC,
    });
    await world.payEvm("ethereum", address, 25n * USDC, world.tokenOn("ethereum"));
    const swap = await world.settled(address);
    expect(swap).toMatchObject({ status: "completed", error: null, destChain: "1" });
    expect(await world.solanaBalance(recipient, mint)).toBe(afterFee(25n * USDC));
  });
});
