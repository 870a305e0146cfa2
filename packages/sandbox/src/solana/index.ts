/** The sandbox's Solana chain, to run in the caller's process: `@sluice/sandbox/solana`. */
export type { Chain } from "./chain.ts";
export type { MintRequest, SolanaControls } from "./controls.ts";
export { GENESIS_HASH, SOLANA_TOKENS, type SolanaToken, WSOL_MINT } from "./genesis.ts";
export type { Block, CommitmentLevel, CommitmentLevelLags, LandedTransaction } from "./ledger.ts";
export { connectSolanaControls } from "./remote-controls.ts";
export { createSolanaChain, type SolanaChain, type SolanaChainOptions } from "./solana-chain.ts";
