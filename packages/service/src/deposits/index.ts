export {
  type DepositCursor,
  type DepositFilter,
  type DepositView,
  findDeposit,
  iterateDeposits,
  listDeposits,
} from "./list.ts";
export {
  findUnexplained,
  hasOutflow,
  type HeldAt,
  insertOutflows,
  listExplained,
  listRefundsIn,
  type RefundInBlock,
  removeOutflowsAbove,
  takeFromFound,
} from "./by-balance.ts";
export { findDepositOutcome } from "./outcome.ts";
export { floorAmount, gateBalance, type GateResult, type Minimums } from "./gate.ts";
export {
  assignBySweeps,
  assignSwept,
  assignAllUnsettled,
  assignUnsettled,
  findEndBeforeNewest,
  findEndOfPart,
  findOldestLeft,
  refreshKnown,
  releaseDeposits,
  sumOpen,
  type SettlementConditions,
} from "./assign.ts";
export {
  countOrphaned,
  hasAllAt,
  hasDepositAbove,
  insertDeposits,
  listKnown,
  listUnsettled,
  type NewDeposits,
  orphanAbove,
  orphanOthers,
  rescheduleUnsettled,
  restateAmounts,
  splitRecorded,
  type Unsettled,
} from "./store.ts";
export { listDepositsOf, type ShownDeposit } from "./shown.ts";
export type {
  ArrivedTransfer,
  ArrivedValue,
  DepositOutcome,
  Holding,
  OpenValue,
  IgnoredReason,
} from "./types.ts";
export { findOutflowKind } from "./outflow-kind.ts";
