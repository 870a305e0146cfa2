export { lookAtDueSettlements } from "./advance.ts";
export type { SettlementDeps } from "./deps.ts";
export { findSwap, listSwaps, type SwapFilter } from "./list.ts";
export {
  type OperatorRequest,
  type RefundByCall,
  type RefundByOrder,
  type RefundResult,
  refundSettlement,
  type RetryResult,
  retrySettlement,
} from "./operator.ts";
export { type RefundedAddress, refundAddress, type RefundRequest } from "./refund-address.ts";
export { type AddressRefund, findLastRefund } from "./refunds.ts";
export { requestIndex, type RequestResult } from "./request-index.ts";
export { acceptBalance, acceptValue } from "./steps/accept.ts";
export { followCompleted } from "./steps/follow.ts";
export { lookForCheaperGas } from "./steps/cheaper.ts";
export { lookForRefills } from "./steps/refill.ts";
export { lookAtUnsettled } from "./steps/recheck.ts";
export { lookForRefunds } from "./steps/refunded.ts";
export {
  explainWait,
  locateValue,
  readSettlementFile,
  type SettlementFile,
  type ValuePlace,
} from "./show.ts";
export { noteGivenBack } from "./steps/deliver.ts";
export { putOff as putOffSettlement } from "./store.ts";
