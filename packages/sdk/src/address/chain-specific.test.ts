/** Held against the examples of ERC-7930 and of CAIP-10 with its namespaces. */
import { expect, test } from "vitest";
import { toCaip10, toInteroperableAddress } from "./chain-specific.ts";

const VITALIK = "0xd8dA6BF26964aF9D7eEd9e03E53415D37aA96045";
const MAINNET = "5eykt4UsFv8P8NJdTREpY1vzqKqZKvdpKuc147dw2N9d";
const ON_SOLANA = {
  genesisHash: MAINNET,
  address: "MJKqp326RZCHnAAbew9MDdui3iCKWco7fsK9sVuZTX2",
};

test("encodes the examples of ERC-7930", () => {
  expect(toInteroperableAddress({ evmChainId: 1, address: VITALIK })).toBe(
    "0x00010000010114d8da6bf26964af9d7eed9e03e53415d37aa96045",
  );
  expect(toInteroperableAddress(ON_SOLANA)).toBe(
    "0x000100022045296998a6f8e2a784db5d9f95e18fc23f70441a1039446801089879b08c7ef0" +
      "2005333498d5aea4ae009585c43f7b8c30df8e70187d4a713d134f977fc8dfe0b5",
  );
});

test.each([
  [256, "020100"],
  [42161, "02a4b1"],
  [59144, "02e708"],
  [2n ** 64n, "09010000000000000000"],
])("encodes chain id %s in as few bytes as it needs", (evmChainId, chain) => {
  const encoded = toInteroperableAddress({ evmChainId, address: VITALIK });
  expect(encoded).toBe(`0x00010000${chain}14${VITALIK.slice(2).toLowerCase()}`);
});

test("names an account by CAIP-10, with the first 32 characters of a genesis hash", () => {
  const address = "0xab16a96d359ec26a11e2c2b3d8f8b8942d5bfcdb";
  expect(toCaip10({ evmChainId: 1, address })).toBe(
    "eip155:1:0xab16a96D359eC26a11e2C2b3d8f8B8942d5Bfcdb",
  );
  expect(
    toCaip10({ genesisHash: MAINNET, address: "7S3P4HxJpyyigGzodYwHtCxZyUQe9JiBMHyRWXArAaKv" }),
  ).toBe("solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp:7S3P4HxJpyyigGzodYwHtCxZyUQe9JiBMHyRWXArAaKv");
});

test.each([
  ["address", { evmChainId: 1, address: "0x1" }],
  ["address", { ...ON_SOLANA, address: VITALIK }],
  ["evmChainId", { evmChainId: -1, address: VITALIK }],
  ["evmChainId", { evmChainId: 1.5, address: VITALIK }],
  ["genesisHash", { genesisHash: "mainnet", address: ON_SOLANA.address }],
])("rejects a malformed %s", (field, of) => {
  expect(() => toInteroperableAddress(of)).toThrow(field);
  expect(() => toCaip10(of)).toThrow(field);
});
