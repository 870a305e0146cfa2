/** The Solana chain of the sandbox. */
export const SOLANA_SPEC = {
  name: "solana",
  /** Bridge chain id. */
  chainId: 1,
  /** Default port of the node. The next one serves subscriptions, where `@solana/web3.js` opens them. */
  defaultPort: 8510,
} as const;

/** Slot time, in milliseconds: a quarter of the real one, so that finality takes about three seconds. */
export const DEFAULT_SLOT_MS = 100;

/** Slot time while idle, in milliseconds. */
export const DEFAULT_IDLE_SLOT_MS = 1_000;

/** The slot of the first block. */
export const FIRST_SLOT = 100n;
