import { getBase58Decoder } from "@solana/kit";
import { expect, test } from "vitest";
import { digestOf, GENESIS_HASH, MINTED_TOKENS } from "./genesis.ts";

const MAINNET = "5eykt4UsFv8P8NJdTREpY1vzqKqZKvdpKuc147dw2N9d";

test("genesis hash and mints are derived from names, so that nobody has their keys", () => {
  const derive = (name: string) => getBase58Decoder().decode(digestOf(name));
  expect(GENESIS_HASH).toBe(derive("genesis"));
  expect(GENESIS_HASH).not.toBe(MAINNET);
  expect(MINTED_TOKENS.map(({ symbol, mint }) => [symbol, mint])).toEqual(
    ["USDC", "USDT", "WETH"].map((symbol) => [symbol, derive(`mint ${symbol}`)]),
  );
});
