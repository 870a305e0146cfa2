export {
  BATCHING_LANE_LIMITS,
  createLaneWaits,
  DEFAULT_LANE_LIMITS,
  type FollowTimes,
  type LaneDeps,
  type LaneLimits,
  type OnTransactionsChanged,
  SHORT_LIVED_LANE_LIMITS,
} from "./lane-deps.ts";
export { type Intent, pollLane, submitIntent, submitIntents } from "./lane.ts";
export { type CallPlan, findDeferral, LACK_OF_GAS, type LaneChoice, planCall } from "./plan.ts";
export { type LaneSpending, listLaneSpending } from "./lanes.ts";
export { listOpenTransactions, type OpenTransaction } from "./list.ts";
export { listTransactions, type ShownTransaction } from "./shown.ts";
export { adoptNonce, getKnownNonces, type KnownNonces } from "./nonces.ts";
export { reopenFinal } from "./reopen.ts";
export { cancelNonce, fillNonce, type NonceRequest, type NonceResult } from "./operator.ts";
export { findEndOfSweeps, getByIntent, isSweepUndone, listMinedHashes } from "./store.ts";
export { failureOf, isOver, kindOf } from "./types.ts";
export type {
  IntentKind,
  IntentName,
  LaneTransaction,
  TransactionFacts,
  MinedFacts,
  TransactionState,
} from "./types.ts";
