/**
 * Genesis state of the sandbox's Solana chain: the mints, which have the same addresses in every sandbox, and the faucet
 * that mints them. None of these accounts exists on a public cluster, except the WSOL mint.
 */
import { createHash } from "node:crypto";
import { type Address, address, type Blockhash, blockhash } from "@solana/kit";
import { TOKEN_PROGRAM_ADDRESS } from "@solana-program/token";

/** Genesis hash of the chain. */
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

/** Mints of the sandbox, by symbol. WETH has 8 decimals, as Wormhole's. */
export const SOLANA_TOKENS = {
  WSOL: token("WSOL", WSOL_MINT, 9),
  USDC: token("USDC", address("ELF2UeTEmuEwgeMZGKxwz8C4cxikGfK8zpjr417kB2bu"), 6),
  USDT: token("USDT", address("7fXLieLoBHUmii3hxKcvag6b38kVxBePqxaYRFbHh3xV"), 6),
  WETH: token("WETH", address("GnvsnYtUNRJjeeG6ESsJk5WXfpoMtMGfiMGvF2J1hhrw"), 8),
} as const satisfies Readonly<Record<string, SolanaToken>>;

/** Mints whose mint authority is the faucet: all except WSOL. */
export const MINTED_TOKENS = [
  SOLANA_TOKENS.USDC,
  SOLANA_TOKENS.USDT,
  SOLANA_TOKENS.WETH,
] as const satisfies readonly SolanaToken[];

/** Initial lamports of the faucet: a tenth of the supply of the real chain. */
export const FAUCET_LAMPORTS = 50_000_000_000_000_000n;

/** Seed of the faucet's key. It is not secret: everyone who can reach the chain can use the faucet. */
export const FAUCET_SEED: Uint8Array = digestOf("faucet");

/** Derives the constants of this file from names, so that nobody has the private keys of the mints. */
export function digestOf(name: string): Uint8Array {
  return createHash("sha256").update(`sluice sandbox: ${name}`).digest();
}

function token(symbol: string, mint: Address, decimals: number): SolanaToken {
  return { symbol, mint, program: TOKEN_PROGRAM_ADDRESS, decimals };
}
