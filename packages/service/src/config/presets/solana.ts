import type { Sourced } from "./preset.ts";
import { PACKAGES, PAGES } from "./sources.ts";

/** A token on Solana. Its prices come from the exchanges of its pair in `markets.ts`. */
export interface SolanaPresetToken extends Sourced {
  readonly symbol: string;
  /** Base58 of the mint, or `native`. */
  readonly address: string;
  readonly decimals: number;
  /** A term, in whole units. */
  readonly minDeposit: string;
  readonly pair: string;
}

/** The public facts of Solana and default terms: those of other chains, as far as they apply. */
export interface SolanaPreset {
  readonly name: "solana" | "solana-devnet";
  readonly finality: { readonly rule: string; readonly source: string };
  /** Base58 hash that identifies the public network. */
  readonly genesis: Sourced & { readonly hash: string };
  readonly terms: {
    readonly minDepositUsd: string;
    readonly pollIntervalMs: number;
    /** Micro-lamports per compute unit. */
    readonly priorityFeeMax: number;
  };
  readonly tokens: readonly SolanaPresetToken[];
  /** Circle's id of the chain. */
  readonly cctp: Sourced & { readonly domain: number };
  readonly remarks: readonly string[];
}

export const solana: SolanaPreset = {
  name: "solana",
  finality: {
    rule: "Two thirds of the stake have rooted the block: about 13 seconds.",
    source: "https://solana.com/docs/rpc#configuring-state-commitment",
  },
  genesis: {
    hash: "5eykt4UsFv8P8NJdTREpY1vzqKqZKvdpKuc147dw2N9d",
    source: "https://solana.com/docs/references/clusters",
    comparedWith: [PACKAGES.wormhole],
  },
  terms: { minDepositUsd: "2", pollIntervalMs: 1000, priorityFeeMax: 1_000_000 },
  tokens: [
    {
      symbol: "SOLANA",
      address: "native",
      decimals: 9,
      minDeposit: "0.02",
      pair: "SOL / USD",
      source: "https://solana.com/docs/core/accounts",
      comparedWith: [PACKAGES.wormhole],
    },
    {
      symbol: "WSOL",
      address: "So11111111111111111111111111111111111111112",
      decimals: 9,
      minDeposit: "0.02",
      pair: "SOL / USD",
      source: "https://solscan.io/token/So11111111111111111111111111111111111111112",
      comparedWith: [PACKAGES.wormhole],
    },
    {
      symbol: "USDC",
      address: "EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v",
      decimals: 6,
      minDeposit: "2",
      pair: "USDC / USD",
      source: PAGES.usdc,
      comparedWith: [PACKAGES.wormhole],
    },
    {
      symbol: "USDT",
      address: "Es9vMFrzaCERmJfrF4H2FYD4KCoNkY11McCe8BenwNYB",
      decimals: 6,
      minDeposit: "2",
      pair: "USDT / USD",
      source: PAGES.usdt,
      comparedWith: [PACKAGES.wormhole],
    },
    {
      symbol: "WETH",
      address: "7vfCXTUXx5WJV5JADk17DUJ4ksgau7utNKj4b963voxs",
      decimals: 8,
      minDeposit: "0.001",
      pair: "ETH / USD",
      source: "https://solscan.io/token/7vfCXTUXx5WJV5JADk17DUJ4ksgau7utNKj4b963voxs",
      comparedWith: [PACKAGES.wormhole],
    },
  ],
  cctp: { domain: 5, source: PAGES.cctp, comparedWith: [PACKAGES.wormhole] },
  remarks: [
    "WETH is Ether bridged by Wormhole; its value depends on that bridge. It has 8 decimals.",
    "Solana has no price feeds in the form of EVM chains: every price comes from exchanges.",
    "Circle's bridge is not used on Solana; its domain is given for reference.",
  ],
};

/** Tokens of Solana that Devnet has under the same addresses. */
const ON_DEVNET = new Set(["SOLANA", "WSOL"]);

/** Solana's Devnet, with the terms of the main network. */
export const solanaDevnet: SolanaPreset = {
  ...solana,
  name: "solana-devnet",
  genesis: {
    ...solana.genesis,
    hash: "EtWTRABZaYq6iMfeYKouRu166VU2xqa1wcaWoxPkrZBG",
  },
  tokens: [
    ...solana.tokens.filter(({ symbol }) => ON_DEVNET.has(symbol)),
    {
      symbol: "USDC",
      address: "4zMMC9srt5Ri5X14GAgXhaHii3GnPAEERYPJgZJDncDU",
      decimals: 6,
      minDeposit: "2",
      pair: "USDC / USD",
      source: PAGES.usdc,
      comparedWith: [PACKAGES.wormhole],
    },
  ],
  remarks: [
    "Solana has no price feeds in the form of EVM chains: every price comes from exchanges.",
    "No explorer is linked: the address of a transaction on Devnet ends with the network's name.",
  ],
};

export const SOLANA_PRESETS: readonly SolanaPreset[] = [solana, solanaDevnet];
