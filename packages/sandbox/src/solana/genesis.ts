/**
 * What stands on the sandbox's Solana chain from its first block on: the same mints at the same addresses in every
 * sandbox, and the faucet that mints them. None of it exists anywhere else.
 */
import { createHash } from "node:crypto";
import { type Address, address, type Blockhash, blockhash } from "@solana/kit";
import { TOKEN_PROGRAM_ADDRESS } from "@solana-program/token";

/** Identifies the chain, as a cluster's genesis hash does. */
export const GENESIS_HASH: Blockhash = blockhash("EqpYPogXhVqSneC7zRFCZkpcnEYBXvuuZ6vX2Rsxw1Kz");

/** Address of wrapped SOL, the same on every cluster. */
export const WSOL_MINT: Address = address("So11111111111111111111111111111111111111112");

/** A token of the sandbox's Solana chain. */
export interface SolanaToken {
  readonly symbol: string;
  readonly mint: Address;
  /** The token program that owns the mint. */
  readonly program: Address;
  readonly decimals: number;
}

/** Mints of the sandbox, by symbol. WETH has 8 decimals, as the one that Wormhole's bridge makes. */
export const SOLANA_TOKENS = {
  WSOL: token("WSOL", WSOL_MINT, 9),
  USDC: token("USDC", address("ELF2UeTEmuEwgeMZGKxwz8C4cxikGfK8zpjr417kB2bu"), 6),
  USDT: token("USDT", address("7fXLieLoBHUmii3hxKcvag6b38kVxBePqxaYRFbHh3xV"), 6),
  WETH: token("WETH", address("GnvsnYtUNRJjeeG6ESsJk5WXfpoMtMGfiMGvF2J1hhrw"), 8),
} as const satisfies Readonly<Record<string, SolanaToken>>;

/** Mints that the faucet mints; wrapped SOL is made by wrapping. */
export const MINTED_TOKENS = [
  SOLANA_TOKENS.USDC,
  SOLANA_TOKENS.USDT,
  SOLANA_TOKENS.WETH,
] as const satisfies readonly SolanaToken[];

/** Lamports of the faucet at the start: a tenth of what there is on the real chain. */
export const FAUCET_LAMPORTS = 50_000_000_000_000_000n;

/** Seed of the faucet's key. It is no secret: whoever reaches the chain may ask the faucet anyway. */
export const FAUCET_SEED: Uint8Array = digestOf("faucet");

/** What the constants of this file are derived from, so that nobody holds a key to them. */
export function digestOf(name: string): Uint8Array {
  return createHash("sha256").update(`sluice sandbox: ${name}`).digest();
}

function token(symbol: string, mint: Address, decimals: number): SolanaToken {
  return { symbol, mint, program: TOKEN_PROGRAM_ADDRESS, decimals };
}
