/** Compares viem's chain definitions with the registry and the presets. Only this test may import them. */
import * as chains from "viem/chains";
import { expect, test } from "vitest";
import { chainOf, PRESETS } from "../../config/presets/index.ts";

test.each(PRESETS.map((preset) => [preset.name, preset] as const))(
  "%s has viem's EVM chain id, explorer and coin decimals",
  (_, preset) => {
    const { name, evmChainId, explorerTxUrl } = chainOf(preset);
    const known = Object.values(chains).filter(({ id }) => id === evmChainId);
    const explorers = known.map((chain) => chain.blockExplorers?.default.url);
    expect(explorers.map((url) => `${url}/tx/`)).toContain(explorerTxUrl);
    const coin = preset.tokens.find(({ symbol }) => symbol === name.toUpperCase());
    expect(known.map((chain) => chain.nativeCurrency.decimals)).toContain(coin?.decimals);
  },
);
