/** Schemas and types of the REST interface, the stream and the quote service: their single source of truth. */
export * from "./chain.ts";
export * from "./console.ts";
export { ISO_8601_PATTERN, TIMESTAMP_PATTERN, UUID_PATTERN } from "./fields.ts";
export * from "./deposit-address.ts";
export * from "./deposit.ts";
export * from "./details.ts";
export * from "./errors.ts";
export * from "./event.ts";
export * from "./export.ts";
export {
  DEPOSIT_FINALITY_STATES,
  type DepositFinalityState,
  FINALITY_STATES,
  type FinalityState,
} from "./finality.ts";
export * from "./issue-addresses.ts";
export * from "./key.ts";
export * from "./operations.ts";
export * from "./pages.ts";
export * from "./pay.ts";
export * from "./quote.ts";
export * from "./refund-states.ts";
export * from "./refund.ts";
export * from "./request-index.ts";
export * from "./settlement.ts";
export * from "./source-config.ts";
export * from "./statuses.ts";
export * from "./swap.ts";
export * from "./webhook.ts";
