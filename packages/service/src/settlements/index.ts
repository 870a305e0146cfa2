export { createSettlementsPoll } from "./advance.ts";
export type { IntakeDeps, SettlementDeps } from "./deps.ts";
export { listDetails } from "./details.ts";
export { findSwap, iterateSwaps, listSwaps, type SwapFilter } from "./list.ts";
export { readReport } from "./report.ts";
export type { Heights } from "./wait-reason.ts";
export { findRefusal, type OperatorRequest } from "./operator/request.ts";
export {
  type AmountOf,
  listAllSettlements,
  type OperatorCursor,
  type OperatorFilter,
  type OperatorListed,
} from "./operator/list-all.ts";
export {
  type RefundByCall,
  type RefundByOrder,
  type RefundResult,
  refundSettlement,
} from "./operator/refund.ts";
export { type AskedAttestors, refundByOperator } from "./operator/refund-by-operator.ts";
export { type RetryResult, retrySettlement } from "./operator/retry.ts";
export { planTakeBack, type TakeBackPlan } from "./operator/take-back.ts";
export {
  type RefundedAddress,
  refundAddress,
  type RefundRequest,
} from "./operator/refund-address.ts";
export { announceRefundStates } from "./operator/announce-states.ts";
export {
  type AttestedRefunds,
  pollAttestedRefunds,
  readUnsent,
  type UnsentState,
} from "./operator/attested-refund.ts";
export { type AddressRefund, findLastRefund, listRefundsOf } from "./operator/refunds.ts";
export {
  createRefundDesk,
  type RefundAsked,
  type RefundDesk,
} from "./operator/requested-refunds.ts";
export { createIndexRequests, requestIndex, type RequestResult } from "./intake/request-index.ts";
export { announceFinalRefunds, announceRefunds } from "./intake/refunds.ts";
export { correctFound, restateDeposits } from "./intake/returns.ts";
export { acceptBalance } from "./intake/accept.ts";
export { acceptArrivals, type OurArrival } from "./intake/accept-arrivals.ts";
export { followCompleted } from "./followers/completed.ts";
export { createGasPoll } from "./waiting/gas.ts";
export { createHeldPoll } from "./waiting/held.ts";
export { createInventoryPoll } from "./waiting/inventory.ts";
export { pollUnsettledDeposits } from "./intake/recheck.ts";
export { pollRefunds } from "./followers/refunded.ts";
export { explainWait, locateValue, type ValuePlace } from "./operator/explain.ts";
export { readSettlementFile, type SettlementFile } from "./operator/file.ts";
export { recordUndeliveredLock } from "./steps/deliver.ts";
export { dueSettlements, SETTLEMENTS } from "./store/due.ts";
export { STATUS_OF_DEPOSIT } from "./store/deposits.ts";
export { readAddressOf } from "./store/read.ts";
export { recordDelivery, reopenParts, reopenSweeps } from "./store/sweep.ts";
export {
  endPause,
  listPauses,
  type PauseFacts,
  type PauseTarget,
  readPausedRoutes,
  startPause,
} from "./operator/pauses.ts";
export {
  decideScreening,
  listScreenings,
  createScreeningsPoll,
  type Screen,
  type ScreeningFacts,
} from "./screening/screen.ts";
export { createScreen } from "./screening/service.ts";
export {
  listRetryable,
  RETRIED_STATUSES,
  type RetriedStatus,
  retryEach,
  type RetryOutcome,
} from "./operator/retry-many.ts";
export { type CompletedSpan, listCompletedSpans, type RouteSpan } from "./operator/trends.ts";
