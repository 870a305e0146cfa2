/** Assets other than USDC from and to Solana, and the recipients that are refused. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { afterFee } from "./support/deposits.ts";
import { expectClaimedAndProved } from "./support/solana-books.ts";
import { openSolanaSandbox, SOL, type SolanaSandbox, USDC } from "./support/solana-sandbox.ts";

const WETH = 100_000_000n;
const LAMPORTS = 1_000_000_000n;
const ETHER = 10n ** 18n;
const ETH = "0x0000000000000000000000000000000000000000";

/** Empty wallets on Solana. */
const RECIPIENTS = {
  usdt: "DY7TsvkE1kT8g4zVa4haEmw7UsAqFVPW1w7qmFa6u4SL",
  weth: "7h6kcCCYnD44Rhjryob1uWcxDXXrV8jYDLPvSxi5BzBe",
};

let world: SolanaSandbox;
/** The treasury's balance before any claim. */
let treasuryLamports: bigint;
beforeAll(async () => {
  world = await openSolanaSandbox();
  treasuryLamports = await world.solanaBalance(world.treasury);
}, 120_000);
afterAll(() => world.close());

describe("from Solana", () => {
  test("SOL arrives as USDC on base at its price", async () => {
    const recipient = world.newEvmWallet();
    const token = world.tokenOn("base");
    const { address } = await world.quote({
      fromChain: "solana",
      fromToken: SOL,
      toChain: "base",
      toToken: token,
      recipient,
      amount: LAMPORTS,
    });
    await world.paySol(address, LAMPORTS);
    expect(await world.settled(address)).toMatchObject({ status: "completed", error: null });
    // The expected amount is computed from the lock's promised minimum, and may be one base unit higher.
    const paid = await world.evmBalance("base", recipient, token);
    expect([0n, 1n]).toContain(paid - afterFee(150n * USDC));
    expect(await world.solanaBalance(address)).toBe(0n);
  });

  test("SOL and wrapped SOL in one vault settle as separate balances", async () => {
    const recipient = world.newEvmWallet();
    const token = world.tokenOn("ethereum");
    const pair = { fromChain: "solana", toChain: "ethereum", toToken: token, recipient };
    const mint = world.mintOf("WSOL");
    const wrapped = await world.quote({ ...pair, fromToken: mint, amount: 2n * LAMPORTS });
    const { address } = await world.quote({ ...pair, fromToken: SOL, amount: LAMPORTS });
    expect(wrapped.address).toBe(address);
    await world.payTokens(mint, address, 2n * LAMPORTS);
    const first = await world.settled(address);
    expect(first).toMatchObject({ status: "completed", tokenAddress: mint });
    await world.paySol(address, LAMPORTS);
    const second = await world.settled(address, [first.id]);
    expect(second).toMatchObject({ status: "completed", tokenAddress: SOL });
    const paid = await world.evmBalance("ethereum", recipient, token);
    // As above, for each asset.
    expect([0n, 1n, 2n]).toContain(paid - afterFee(450n * USDC));
    expect(await world.solanaBalance(address)).toBe(0n);
    expect(await world.solanaBalance(address, mint)).toBe(0n);
  });

  test("WETH of 8 decimals arrives as ether, which has 18", async () => {
    const recipient = world.newEvmWallet();
    const mint = world.mintOf("WETH");
    const { address } = await world.quote({
      fromChain: "solana",
      fromToken: mint,
      toChain: "ethereum",
      toToken: ETH,
      recipient,
      amount: WETH / 2n,
    });
    await world.payTokens(mint, address, WETH / 2n);
    expect(await world.settled(address)).toMatchObject({ status: "completed", error: null });
    expect(await world.evmBalance("ethereum", recipient)).toBe(afterFee(ETHER / 2n));
  });

  test("USDT stays on Solana, for a wallet whose token account is created", async () => {
    const mint = world.mintOf("USDT");
    const { address } = await world.quote({
      fromChain: "solana",
      fromToken: mint,
      toChain: "solana",
      toToken: mint,
      recipient: RECIPIENTS.usdt,
      amount: 5n * USDC,
    });
    await world.payTokens(mint, address, 5n * USDC);
    expect(await world.settled(address)).toMatchObject({ status: "completed", error: null });
    expect(await world.solanaBalance(RECIPIENTS.usdt, mint)).toBe(afterFee(5n * USDC));
  });

  test("a deposit below the minimum waits, and settles with the one that lifts the balance", async () => {
    const recipient = world.newEvmWallet();
    const token = world.tokenOn("base");
    const mint = world.mintOf("USDC");
    const { address } = await world.quote({
      fromChain: "solana",
      fromToken: mint,
      toChain: "base",
      toToken: token,
      recipient,
      amount: 2n * USDC,
    });
    await world.payTokens(mint, address, USDC - 1n);
    await world.until("the deposit is known", async () => (await world.deposits(address)) === 1);
    expect(await world.swapsOf(address)).toEqual([]);
    await world.payTokens(mint, address, 1n);
    expect(await world.settled(address)).toMatchObject({ status: "completed", error: null });
    expect(await world.evmBalance("base", recipient, token)).toBe(afterFee(USDC));
  });
});

describe("to Solana", () => {
  test("ether on base arrives as WETH, and USDC as SOL at its price", async () => {
    const asWeth = await world.quote({
      fromChain: "base",
      fromToken: ETH,
      toChain: "solana",
      toToken: world.mintOf("WETH"),
      recipient: RECIPIENTS.weth,
      amount: ETHER,
    });
    const asSol = await world.quote({
      fromChain: "base",
      fromToken: world.tokenOn("base"),
      toChain: "solana",
      toToken: SOL,
      recipient: RECIPIENTS.weth,
      amount: 150n * USDC,
    });
    await world.payEvm("base", asWeth.address, ETHER);
    await world.payEvm("base", asSol.address, 150n * USDC, world.tokenOn("base"));
    expect(await world.settled(asWeth.address)).toMatchObject({ status: "completed", error: null });
    expect(await world.settled(asSol.address)).toMatchObject({ status: "completed", error: null });
    expect(await world.solanaBalance(RECIPIENTS.weth, world.mintOf("WETH"))).toBe(afterFee(WETH));
    expect(await world.solanaBalance(RECIPIENTS.weth)).toBe(afterFee(LAMPORTS));
  });

  test("refuses recipients that cannot use the payment, or of another chain family [T43]", async () => {
    const asked = {
      fromChain: "ethereum",
      fromToken: world.tokenOn("ethereum"),
      toChain: "solana",
      toToken: world.mintOf("USDC"),
      amount: 25n * USDC,
    };
    for (const recipient of [
      world.newEvmWallet(),
      SOL,
      world.mintOf("USDC"),
      "TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA",
    ]) {
      await expect(world.quote({ ...asked, recipient })).rejects.toMatchObject({
        code: "VALIDATION_ERROR",
      });
    }
  });
});

test("every lock is claimed to the treasury, and the ledger matches the chains", () =>
  expectClaimedAndProved(world, {
    lamportsBefore: treasuryLamports,
    brought: { usdc: USDC, wsol: 2n * LAMPORTS, lamports: 2n * LAMPORTS },
    walletsMin: 5,
  }));
