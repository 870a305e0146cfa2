/** Whom the bridge mints to: a wallet on EVM chains, a token account on Solana. */
import { describe, expect, test } from "vitest";
import { NATIVE_SOL, padAddress, toEvmAddress, toHex32 } from "../../../core/hex.ts";
import { fromBase58 } from "../base58.ts";
import { mintRecipientOf } from "./mint-recipient.ts";

const SOLANA = 1;
const BASE = 30;
const ZERO = toHex32(NATIVE_SOL);
/** USDC of devnet. */
const TOKEN = toHex32(fromBase58("4zMMC9srt5Ri5X14GAgXhaHii3GnPAEERYPJgZJDncDU"));

/**
 * A transfer of 0.5 USDC from Stellar to Solana's devnet that was received (4BYM2ubSwR6Ati78CYJwzQSzcNcES8NHhW3xYmjkWw7j
 * YxS1soKnSi65ATH5WDZW87WBdaNdrCBKjWknH9uBA83L), as told in oceans404/stellar-cctp-explorer, `TEST_CASES.md` at 26ce03d.
 */
const RECEIVED = {
  wallet: toHex32(fromBase58("EHrxPrT9ugvXousvHJ5Gd6L2mLzWzTNFZ6hqkrS6qbrV")),
  account: fromBase58("9RsLMMwqmqELjvmmA2rpgJetZmUhKuqoSAdUWy4ZoBLY"),
  mintRecipient: "0x7d3c58e5bcdf7f31a542724f0924113f6c6083d372022742a3cabf2670c31b65",
};

describe("towards Solana", () => {
  test("T42 it is the token account of the committed wallet, as in a transfer that was received", async () => {
    const { wallet, account, mintRecipient } = RECEIVED;
    const found = await mintRecipientOf({
      destChain: SOLANA,
      destWallet: wallet,
      destToken: TOKEN,
    });
    expect(found).toBe(mintRecipient);
    expect(found).toBe(account);
  });

  test("T42 it is never the wallet, and another for every wallet and token", async () => {
    const words = [1, 2, 3].map((number) => toHex32(`0x${number.toString(16).padStart(64, "a")}`));
    const pairs = words.flatMap((destWallet) =>
      words.map((destToken) => ({ destWallet, destToken })),
    );
    const found = await Promise.all(
      pairs.map((pair) => mintRecipientOf({ destChain: SOLANA, ...pair })),
    );
    expect(new Set([...found, ...words]).size).toBe(pairs.length + words.length);
  });

  test("T42 there is none for SOL, nor for nobody", async () => {
    const { wallet } = RECEIVED;
    await expect(
      mintRecipientOf({ destChain: SOLANA, destWallet: wallet, destToken: ZERO }),
    ).rejects.toThrow("the bridge mints no SOL");
    await expect(
      mintRecipientOf({ destChain: SOLANA, destWallet: ZERO, destToken: TOKEN }),
    ).rejects.toThrow("expected a wallet");
  });
});

describe("towards an EVM chain", () => {
  const destToken = padAddress(toEvmAddress("0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913"));

  test("it is the committed wallet, padded on the left", async () => {
    const destWallet = padAddress(toEvmAddress("0x6fB09783940b0E9a313531bd5c7e81810a70f919"));
    expect(await mintRecipientOf({ destChain: BASE, destWallet, destToken })).toBe(destWallet);
    expect(destWallet).toBe("0x0000000000000000000000006fb09783940b0e9a313531bd5c7e81810a70f919");
  });

  test("there is none for a wallet of Solana, nor for nobody", async () => {
    await expect(
      mintRecipientOf({ destChain: BASE, destWallet: RECEIVED.wallet, destToken }),
    ).rejects.toThrow("12 zero bytes");
    await expect(mintRecipientOf({ destChain: BASE, destWallet: ZERO, destToken })).rejects.toThrow(
      "expected a wallet",
    );
  });
});
