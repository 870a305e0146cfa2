import type { SourceChain } from "@sluice/sdk";
import { describe, expect, test } from "vitest";
import { SandboxError } from "../errors.ts";
import { findChain, findSameToken, findToken } from "./find-token.ts";

const USDC = "0x00000000000000000000000000000000000000Aa";
const ZERO = `0x${"0".repeat(40)}`;
const BASE: SourceChain = {
  chainId: 30,
  name: "base",
  kind: "evm",
  tokens: [
    { address: USDC, symbol: "USDC", standard: "erc20", decimals: 6 },
    { address: ZERO, symbol: "BASE", standard: "native", decimals: 18 },
  ],
};
const SOLANA: SourceChain = {
  chainId: 1,
  name: "solana",
  kind: "svm",
  tokens: [
    { address: "1".repeat(32), symbol: "SOLANA", standard: "native", decimals: 9 },
    { address: "Mint1", symbol: "WSOL", standard: "spl", decimals: 9 },
    { address: "Mint2", symbol: "DUP", standard: "spl", decimals: 9 },
    { address: "Mint3", symbol: "DUP", standard: "spl", decimals: 9 },
  ],
};

describe("findChain", () => {
  test("finds a chain by its name in any case", () => {
    expect(findChain({ chains: [BASE, SOLANA] }, "--from", "Base")).toBe(BASE);
  });

  test("lists the known chains for an unknown one", () => {
    expect(() => findChain({ chains: [BASE, SOLANA] }, "--from", "tron")).toThrow(
      new SandboxError("--from tron: unknown chain; expected one of base, solana"),
    );
  });
});

describe("findToken", () => {
  test.each([
    [BASE, "usdc", USDC],
    [BASE, USDC.toLowerCase(), USDC],
    [BASE, "BASE", ZERO],
    [BASE, "native", ZERO],
    [BASE, "ETH", ZERO],
    [SOLANA, "sol", "1".repeat(32)],
    [SOLANA, "Mint1", "Mint1"],
  ] as const)("finds a token by symbol, address or familiar name", (chain, name, address) => {
    expect(findToken(chain, "--token", name).address).toBe(address);
  });

  test.each([
    [BASE, "DAI", "--token DAI: unknown token on base; expected one of USDC, BASE"],
    [
      SOLANA,
      "mint1",
      "--token mint1: unknown token on solana; expected one of SOLANA, WSOL, DUP, DUP",
    ],
    [
      SOLANA,
      "DUP",
      "--token DUP: solana has several such tokens; expected one of the addresses Mint2, Mint3",
    ],
  ] as const)("names the choices where no single token matches", (chain, name, message) => {
    expect(() => findToken(chain, "--token", name)).toThrow(new SandboxError(message));
  });
});

describe("findSameToken", () => {
  test("is the native coin for the native coin, otherwise the token of the symbol", () => {
    const [usdc, coin] = BASE.tokens;
    if (!usdc || !coin) throw new Error("the chain has two tokens");
    expect(findSameToken(SOLANA, coin).symbol).toBe("SOLANA");
    expect(findSameToken(BASE, usdc)).toBe(usdc);
    expect(() => findSameToken(SOLANA, usdc)).toThrow(
      new SandboxError(
        "--to-token is missing: solana has no USDC; expected one of SOLANA, WSOL, DUP, DUP",
      ),
    );
  });
});
