/** The sandbox's Solana chain, to be started in a process of one's own: `@sluice/sandbox/solana`. */
export type { Chain } from "./chain.ts";
export type { MintRequest, SolanaControls } from "./controls.ts";
export { GENESIS_HASH, SOLANA_TOKENS, type SolanaToken, WSOL_MINT } from "./genesis.ts";
export type { Block, Commitment, CommitmentLags, LandedTransaction } from "./ledger.ts";
export { connectSolanaControls } from "./remote-controls.ts";
export { createSolanaChain, type SolanaChain, type SolanaChainOptions } from "./solana-chain.ts";
