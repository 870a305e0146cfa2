/** The Solana chain of the sandbox. */
export const SOLANA_SPEC = {
  name: "solana",
  /** Bridge chain id. */
  chainId: 1,
  /** Port of the node unless another is asked for. */
  defaultPort: 8501,
} as const;

/** Milliseconds of a slot: a quarter of the real one, so that finality comes after some three seconds. */
export const DEFAULT_SLOT_MS = 100;

/** Milliseconds of a slot while nothing happens. */
export const DEFAULT_IDLE_SLOT_MS = 1_000;

/** The slot of its first block. */
export const FIRST_SLOT = 100n;
