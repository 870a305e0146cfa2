/** What transactions of Solana cost, in lamports. */
import type { Step } from "../port/index.ts";

/** Lamports of one signature. */
const SIGNATURE_LAMPORTS = 5_000n;
/** Signatures of the orders with most: fee payer, escrow and vault. */
const SIGNATURES_MAX = 3n;
const MICRO = 1_000_000n;

/** Compute units of any order, above what each of them was seen to use. */
export const ORDER_UNITS = 100_000n;
/**
 * Lamports that a payment may leave behind: a token account of 165 bytes and the marker of one byte, each with 128 more, at
 * what a byte cost before it was lowered.
 */
const PAYMENT_RENT = (165n + 128n + 1n + 128n) * 6_960n;

/** Lamports of a transaction with most signatures, at a price of micro-lamports per compute unit; rounded up. */
export function costOfUnits(units: bigint, price: bigint): bigint {
  return SIGNATURES_MAX * SIGNATURE_LAMPORTS + (units * price + MICRO - 1n) / MICRO;
}

/** Lamports of a step, whatever order it is, with the rent of what it may open. */
export function costOfStep({ paysRecipient }: Step, price: bigint): bigint {
  return costOfUnits(ORDER_UNITS, price) + (paysRecipient ? PAYMENT_RENT : 0n);
}
