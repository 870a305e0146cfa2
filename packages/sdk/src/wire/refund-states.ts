/** Words about refunds that requests, lists and events share. Additions to the published interface. */

/** States of a refund. The last four are final. */
export const REFUND_STATES = [
  "requested",
  "sent",
  "mined",
  "refunded",
  "failed",
  "refused",
  "lapsed",
] as const;
/** State of a refund. */
export type RefundState = (typeof REFUND_STATES)[number];
/** States after which a refund never changes. */
export const REFUND_STATES_FINAL = ["refunded", "failed", "refused", "lapsed"] as const;
/** Reasons that attestors sign. */
export const REFUND_POLICY_REASONS = ["below_minimum", "unlisted", "dead", "expired"] as const;
