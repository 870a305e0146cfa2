/** Why attestors let a deposit be refunded. The numbers are part of the signed message; docs/formats.md defines each. */

export const REFUND_REASONS = ["below_minimum", "unlisted", "dead", "expired"] as const;
export type RefundReason = (typeof REFUND_REASONS)[number];

/** Returns the number of a reason, from 1; zero for null. */
export function numberOfReason(reason: RefundReason | null): number {
  return reason === null ? 0 : REFUND_REASONS.indexOf(reason) + 1;
}

/** Returns the reason of a number; null for zero, which a refund by the authority itself has, and for unknown ones. */
export function reasonOfNumber(number: number): RefundReason | null {
  return REFUND_REASONS[number - 1] ?? null;
}
