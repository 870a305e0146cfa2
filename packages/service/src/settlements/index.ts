export { pollDueSettlements } from "./advance.ts";
export type { IntakeDeps, RequestDeps, SettlementDeps } from "./deps.ts";
export { findSwap, listSwaps, type SwapFilter } from "./list.ts";
export type { OperatorRequest } from "./operator/request.ts";
export {
  type RefundByCall,
  type RefundByOrder,
  type RefundResult,
  refundSettlement,
} from "./operator/refund.ts";
export { type RetryResult, retrySettlement } from "./operator/retry.ts";
export { planTakeBack, type TakeBackPlan } from "./operator/take-back.ts";
export {
  type RefundedAddress,
  refundAddress,
  type RefundRequest,
} from "./operator/refund-address.ts";
export { type AddressRefund, findLastRefund } from "./operator/refunds.ts";
export { requestIndex, type RequestResult } from "./intake/request-index.ts";
export { acceptBalance, acceptValue } from "./intake/accept.ts";
export { followCompleted } from "./followers/completed.ts";
export { pollWaitingForGas } from "./waiting/gas.ts";
export { pollWaitingForInventory } from "./waiting/inventory.ts";
export { pollUnsettledDeposits } from "./intake/recheck.ts";
export { pollRefunds } from "./followers/refunded.ts";
export { explainWait, locateValue, type ValuePlace } from "./operator/explain.ts";
export { readSettlementFile, type SettlementFile } from "./operator/file.ts";
export { recordUndeliveredLock } from "./steps/deliver.ts";
export { dueSettlements } from "./store/due.ts";
export { readAddressOf } from "./store/read.ts";
