/** The presets by name, in the order of the bridge's ids. */
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

/** The preset of a name, or undefined. */
export function findPreset(name: string): Preset | undefined {
  return PRESETS.find((preset) => preset.name === name);
}

/** The chain that a preset is of, with both of its ids. */
export function chainOf(preset: Preset): KnownChain & { readonly evmChainId: number } {
  const chain = findChainByName(preset.name);
  assert(chain?.evmChainId !== undefined, "every preset is of an EVM chain of the registry");
  return { ...chain, evmChainId: chain.evmChainId };
}

/** The token of an address in any case, or undefined. */
export function findPresetToken(preset: Preset, address: string): PresetToken | undefined {
  return preset.tokens.find((token) => isSameAddress(token.address, address));
}

/** The feed of an address in any case, or undefined. */
export function findPresetFeed(preset: Preset, address: string): PresetFeed | undefined {
  return preset.tokens.find(({ feed }) => feed && isSameAddress(feed.address, address))?.feed;
}

/** How old an answer may be: a heartbeat and a tenth, since it comes late now and then; a day and an hour at most. */
export function maxAgeSecondsOf({ heartbeatSeconds }: PresetFeed): number {
  const ofADay = 90_000;
  return heartbeatSeconds === null ? ofADay : Math.min(ofADay, (heartbeatSeconds * 11) / 10);
}

function isSameAddress(one: string, other: string): boolean {
  return one.toLowerCase() === other.toLowerCase();
}
