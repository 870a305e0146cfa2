import { expect, test } from "vitest";
import { GENESIS_HASH } from "@sluice/sandbox/solana";
import { parseSolanaAddress } from "../core/base58.ts";
import { toHex32 } from "../core/hex.ts";
import { solana as preset } from "../config/presets/index.ts";
import { isLocal } from "./facts.ts";

const solanaOf = (genesis: string) => ({
  evmChainId: 0,
  // CAST: what is looked at of it.
  solana: { genesisHash: toHex32(parseSolanaAddress(genesis) ?? "") } as never,
});

test("the chains of the sandbox are local, those with real money are not", () => {
  expect(isLocal({ evmChainId: 900_002 })).toBe(true);
  expect(isLocal({ evmChainId: 1 })).toBe(false);
  expect(isLocal(solanaOf(GENESIS_HASH))).toBe(true);
  expect(isLocal(solanaOf(preset.genesis.hash))).toBe(false);
});
