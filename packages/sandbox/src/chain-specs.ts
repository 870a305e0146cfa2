/** The two chains of the sandbox. Their EVM ids are nobody's, so that a payment link never reaches real money. */

export interface ChainSpec {
  readonly name: "ethereum" | "base";
  /** Bridge chain id. */
  readonly chainId: number;
  /** EIP-155 id. */
  readonly evmChainId: number;
  /** Circle's number of the real chain of that name, which its stand-ins use as well. */
  readonly domain: number;
  /** Port of the node unless another is asked for. */
  readonly defaultPort: number;
}

export type ChainName = ChainSpec["name"];

export const CHAIN_SPECS = [
  { name: "ethereum", chainId: 2, evmChainId: 900002, domain: 0, defaultPort: 8502 },
  { name: "base", chainId: 30, evmChainId: 900030, domain: 6, defaultPort: 8530 },
] as const satisfies readonly ChainSpec[];

/** Blocks until a block is final: the nodes run with `--slots-in-an-epoch 1`, finalized = head - 2. */
export const FINALITY_BLOCKS = 2;

/** The token of the sandbox. */
export const USDC = { symbol: "USDC", name: "Test USD Coin", decimals: 6 } as const;

/** Of the native coin of both chains; its symbol is the chain's name in upper case. */
export const NATIVE_DECIMALS = 18;
