import { describe, expect, test } from "vitest";
import { toEvmPaymentUri, toSolanaPaymentUri } from "./payment-uri.ts";

const WALLET = "0x8e23ee67d1332ad560396262c48ffbb01f93d052";
const TOKEN = "0x89205a3a3b2a69de6dbf7f01ed13b2108b2c43e7";

describe("ERC-681", () => {
  test("targets the token contract, with the deposit address as argument", () => {
    // The example of the specification, with an explicit chain id.
    expect(toEvmPaymentUri({ address: WALLET, evmChainId: 1, token: TOKEN, amount: 1n })).toBe(
      `ethereum:${TOKEN}@1/transfer?address=${WALLET}&uint256=1`,
    );
    expect(toEvmPaymentUri({ address: WALLET, evmChainId: 8453, token: TOKEN })).toBe(
      `ethereum:${TOKEN}@8453/transfer?address=${WALLET}`,
    );
  });

  test("sends native coin to the deposit address, with the exact amount in wei", () => {
    const amount = 2_014_000_000_000_000_001n;
    expect(toEvmPaymentUri({ address: WALLET, evmChainId: 1, amount })).toBe(
      `ethereum:${WALLET}@1?value=2014000000000000001`,
    );
    const token = `0x${"0".repeat(40)}`;
    expect(toEvmPaymentUri({ address: WALLET, evmChainId: 1, token })).toBe(`ethereum:${WALLET}@1`);
  });

  test.each([
    ["address", { address: "0x1", evmChainId: 1 }],
    ["evmChainId", { address: WALLET, evmChainId: 0 }],
    ["token", { address: WALLET, evmChainId: 1, token: "USDC" }],
    ["amount", { address: WALLET, evmChainId: 1, amount: -1n }],
  ])("rejects a malformed %s", (field, payment) => {
    expect(() => toEvmPaymentUri(payment)).toThrow(field);
  });
});

describe("Solana Pay", () => {
  const address = "mvines9iiHiQTysrwkJjGf2gb9Ex9jXJX8ns3qwf2kN";
  const mint = "EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v";

  test("reproduces the examples of the specification", () => {
    expect(
      toSolanaPaymentUri({
        address,
        amount: 1_000_000_000n,
        decimals: 9,
        label: "Michael",
        message: "Thanks for all the fish",
      }),
    ).toBe(`solana:${address}?amount=1&label=Michael&message=Thanks%20for%20all%20the%20fish`);
    expect(toSolanaPaymentUri({ address, mint, amount: 10_000n, decimals: 6 })).toBe(
      `solana:${address}?amount=0.01&spl-token=${mint}`,
    );
    expect(toSolanaPaymentUri({ address })).toBe(`solana:${address}`);
  });

  test("omits spl-token for native SOL as the service lists it", () => {
    const native = "1".repeat(32);
    expect(toSolanaPaymentUri({ address, mint: native, amount: 5n, decimals: 9 })).toBe(
      `solana:${address}?amount=0.000000005`,
    );
    expect(toSolanaPaymentUri({ address, mint: native })).toBe(`solana:${address}`);
    const wrapped = "So11111111111111111111111111111111111111112";
    expect(toSolanaPaymentUri({ address, mint: wrapped })).toBe(
      `solana:${address}?spl-token=${wrapped}`,
    );
  });

  test("formats amounts exactly", () => {
    const amountOf = (amount: bigint, decimals: number) =>
      new URL(toSolanaPaymentUri({ address, amount, decimals })).searchParams.get("amount");
    expect(amountOf(1n, 9)).toBe("0.000000001");
    expect(amountOf(0n, 9)).toBe("0");
    expect(amountOf(12_345_678_901_234_567_890n, 6)).toBe("12345678901234.56789");
    expect(amountOf(7n, 0)).toBe("7");
  });

  test.each([
    ["address", { address: WALLET }],
    // Valid base58 of a plausible length, but not 32 bytes.
    ["address", { address: "1".repeat(44) }],
    ["address", { address: "z".repeat(44) }],
    ["address", { address: address.slice(0, -2) }],
    ["mint", { address, mint: "0" }],
    ["mint", { address, mint: mint.slice(0, -2) }],
    ["decimals", { address, amount: 1n }],
    ["amount", { address, amount: -1n, decimals: 9 }],
  ])("rejects a malformed or missing %s", (field, payment) => {
    expect(() => toSolanaPaymentUri(payment)).toThrow(field);
  });
});
