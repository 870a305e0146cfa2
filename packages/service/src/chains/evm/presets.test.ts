/** What viem knows of the chains, beside the registry and the presets: only here may it be asked. */
import * as chains from "viem/chains";
import { expect, test } from "vitest";
import { chainOf, PRESETS } from "../../config/presets/index.ts";

test.each(PRESETS.map((preset) => [preset.name, preset] as const))(
  "%s has the EVM id, the explorer and the decimals of its coin that viem has",
  (name, preset) => {
    const { evmChainId, explorerTxUrl } = chainOf(preset);
    const known = Object.values(chains).filter(({ id }) => id === evmChainId);
    const explorers = known.map((chain) => chain.blockExplorers?.default.url);
    expect(explorers.map((url) => `${url}/tx/`)).toContain(explorerTxUrl);
    const coin = preset.tokens.find(({ symbol }) => symbol === name.toUpperCase());
    expect(known.map((chain) => chain.nativeCurrency.decimals)).toContain(coin?.decimals);
  },
);
