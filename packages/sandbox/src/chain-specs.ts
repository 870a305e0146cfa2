/** The two EVM chains of the sandbox. No public chain has their EVM chain ids, so a payment link never reaches real money. */

export interface ChainSpec {
  readonly name: "ethereum" | "base";
  /** Bridge chain id. */
  readonly chainId: number;
  /** EIP-155 id. */
  readonly evmChainId: number;
  /** Circle's domain of the real chain of that name; the bridge stand-ins use it too. */
  readonly domain: number;
  /** Default port of the node. */
  readonly defaultPort: number;
}

export type ChainName = ChainSpec["name"];

export const CHAIN_SPECS = [
  { name: "ethereum", chainId: 2, evmChainId: 900002, domain: 0, defaultPort: 8502 },
  { name: "base", chainId: 30, evmChainId: 900030, domain: 6, defaultPort: 8530 },
] as const satisfies readonly ChainSpec[];

/** Blocks on top of a final block: the nodes run with `--slots-in-an-epoch 1`, so finalized = head - 2. */
export const FINALITY_BLOCKS = 2;

/** The test token of the sandbox. */
export const USDC = { symbol: "USDC", name: "Test USD Coin", decimals: 6 } as const;

/** Decimals of the native coin of both chains. */
export const NATIVE_DECIMALS = 18;

/**
 * A listed token that burns a share of transfers while a scenario lets it, with a route from each EVM chain to USDC on the
 * other.
 */
export const FEE_TOKEN = {
  symbol: "FEE",
  name: "Test Fee-on-Transfer Token",
  decimals: 6,
  /** Share of a transfer that does not arrive, in basis points. */
  feeBps: 30,
} as const;
