/** The presets, in the order of their bridge chain ids. */
import { assert } from "../../core/assert.ts";
import { findChainByName, type KnownChain, TEST_NETWORKS } from "../../core/chain-registry.ts";
import { arbitrum } from "./arbitrum.ts";
import { arbitrumSepolia } from "./arbitrum-sepolia.ts";
import { avalanche } from "./avalanche.ts";
import { base } from "./base.ts";
import { baseSepolia } from "./base-sepolia.ts";
import { bsc } from "./bsc.ts";
import { ethereum } from "./ethereum.ts";
import { ethereumSepolia } from "./ethereum-sepolia.ts";
import { linea } from "./linea.ts";
import { optimism } from "./optimism.ts";
import { polygon } from "./polygon.ts";
import type { Preset, PresetFeed, PresetToken } from "./preset.ts";
import { solanaDevnet } from "./solana.ts";
import { unichain } from "./unichain.ts";

export { listMarkets, type PresetMarket } from "./markets.ts";
export {
  solana,
  SOLANA_PRESETS,
  solanaDevnet,
  type SolanaPreset,
  type SolanaPresetToken,
} from "./solana.ts";
export type { Preset, PresetFeed, PresetToken, Sourced } from "./preset.ts";

export const PRESETS: readonly Preset[] = [
  ethereum,
  bsc,
  polygon,
  avalanche,
  arbitrum,
  optimism,
  base,
  linea,
  unichain,
  ethereumSepolia,
  arbitrumSepolia,
  baseSepolia,
];

/** Returns the preset with a name, or undefined. */
export function findPreset(name: string): Preset | undefined {
  return PRESETS.find((preset) => preset.name === name);
}

/** Reports whether a preset is of a test network. */
export function isTest({ name }: Pick<Preset, "name">): boolean {
  return name === solanaDevnet.name || TEST_NETWORKS.some((one) => one.name === name);
}

/** Returns the registry entry of a preset, with both chain ids. A test network has the name and the bridge chain id of its chain. */
export function chainOf(preset: Preset): KnownChain & { readonly evmChainId: number } {
  const test = TEST_NETWORKS.find(({ name }) => name === preset.name);
  const chain = findChainByName(test?.of ?? preset.name);
  const { evmChainId, explorerTxUrl } = test ?? chain ?? {};
  assert(
    chain && evmChainId !== undefined && explorerTxUrl !== undefined,
    "every preset is of an EVM chain of the registry",
  );
  return { ...chain, evmChainId, explorerTxUrl };
}

/** Returns the token with an address in any letter case, or undefined. */
export function findPresetToken(preset: Preset, address: string): PresetToken | undefined {
  return preset.tokens.find((token) => isSameAddress(token.address, address));
}

/** Returns the feed with an address in any letter case, or undefined. */
export function findPresetFeed(preset: Preset, address: string): PresetFeed | undefined {
  return preset.tokens.find(({ feed }) => feed && isSameAddress(feed.address, address))?.feed;
}

/** Returns the maximum age of an answer: the heartbeat plus 10 % for late updates, at most 25 hours. */
export function maxAgeSecondsOf({ heartbeatSeconds }: PresetFeed): number {
  const ofADay = 90_000;
  return heartbeatSeconds === null ? ofADay : Math.min(ofADay, (heartbeatSeconds * 11) / 10);
}

function isSameAddress(one: string, other: string): boolean {
  return one.toLowerCase() === other.toLowerCase();
}
