import type { RefundPolicies, RefundPolicy } from "../../src/config/index.ts";

/** Allows nothing, as the default of the configuration. */
export const NOTHING_REFUNDED: RefundPolicy = {
  belowMinimum: false,
  unlisted: false,
  deadAfterS: null,
  expiredAfterS: null,
  automatic: null,
};

export const NO_REFUNDS: RefundPolicies = { general: NOTHING_REFUNDED, byAuthority: new Map() };
