import { isLocal } from "../config/index.ts";
import { expect, test } from "vitest";
import { GENESIS_HASH } from "@sluice/sandbox/solana";
import { parseSolanaAddress } from "../core/base58.ts";
import { toHex32 } from "../core/hex.ts";
import { solana as preset } from "../config/presets/index.ts";

const evmOf = (evmChainId: number) => ({ kind: "evm" as const, evmChainId });
const solanaOf = (genesis: string) => ({
  kind: "svm" as const,
  genesisHash: toHex32(parseSolanaAddress(genesis) ?? ""),
});

test("treats the sandbox's chains as local, and public chains as not", () => {
  expect(isLocal(evmOf(900_002))).toBe(true);
  expect(isLocal(evmOf(1))).toBe(false);
  expect(isLocal(solanaOf(GENESIS_HASH))).toBe(true);
  expect(isLocal(solanaOf(preset.genesis.hash))).toBe(false);
});
