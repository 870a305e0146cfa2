/** The presets, in the order of their bridge chain ids. */
import { assert } from "../../core/assert.ts";
import { findChainByName, type KnownChain } from "../../core/chain-registry.ts";
import { arbitrum } from "./arbitrum.ts";
import { avalanche } from "./avalanche.ts";
import { base } from "./base.ts";
import { bsc } from "./bsc.ts";
import { ethereum } from "./ethereum.ts";
import { linea } from "./linea.ts";
import { optimism } from "./optimism.ts";
import { polygon } from "./polygon.ts";
import type { Preset, PresetFeed, PresetToken } from "./preset.ts";
import { unichain } from "./unichain.ts";

export { listMarkets, type PresetMarket } from "./markets.ts";
export { solana, type SolanaPreset, type SolanaPresetToken } from "./solana.ts";
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
];

/** Returns the preset with a name, or undefined. */
export function findPreset(name: string): Preset | undefined {
  return PRESETS.find((preset) => preset.name === name);
}

/** Returns the registry entry of a preset, with both chain ids. */
export function chainOf(preset: Preset): KnownChain & { readonly evmChainId: number } {
  const chain = findChainByName(preset.name);
  assert(chain?.evmChainId !== undefined, "every preset is of an EVM chain of the registry");
  return { ...chain, evmChainId: chain.evmChainId };
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
