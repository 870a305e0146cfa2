export {
  DEFAULT_LANE_LIMITS,
  type LaneDeps,
  type LaneLimits,
  lookAtLane,
  type OnTransactionChanged,
  submitIntent,
} from "./lane.ts";
export { simulateCall } from "./simulate.ts";
export { chooseLane, getByIntent } from "./store.ts";
export type { IntentKind, IntentName, LaneTransaction, MinedFacts } from "./types.ts";
