export { lookAtDueSettlements } from "./advance.ts";
export type { SettlementDeps } from "./deps.ts";
export { listSwaps } from "./list.ts";
export { acceptValue } from "./steps/accept.ts";
export { followCompleted } from "./steps/follow.ts";
export { lookAtUnsettled } from "./steps/recheck.ts";
export { putOff as putOffSettlement } from "./store.ts";
