/** The cost of transactions on Solana, in lamports. */
import type { Step } from "../port/index.ts";

/** Base fee in lamports per signature. */
const SIGNATURE_LAMPORTS = 5_000n;
/** Most signatures of any order: fee payer, escrow and vault. */
const SIGNATURES_MAX = 3n;
const MICRO = 1_000_000n;

/** Compute units that suffice for any order, by measurement. */
export const ORDER_UNITS = 100_000n;
/**
 * Most lamports that a payment may spend on rent: a token account of 165 bytes and a marker of one byte, each with 128
 * bytes of overhead, at Solana's original rent per byte (an upper bound for today's).
 */
const PAYMENT_RENT = (165n + 128n + 1n + 128n) * 6_960n;

/** Returns the lamports of a transaction with the most signatures. `price` is micro-lamports per compute unit. */
export function costOfUnits(units: bigint, price: bigint): bigint {
  return SIGNATURES_MAX * SIGNATURE_LAMPORTS + (units * price + MICRO - 1n) / MICRO;
}

/** Returns the lamports that any order of a step can cost, including the rent of accounts that it may open. */
export function costOfStep({ paysRecipient }: Step, price: bigint): bigint {
  return costOfUnits(ORDER_UNITS, price) + (paysRecipient ? PAYMENT_RENT : 0n);
}
