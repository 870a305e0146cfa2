export { lookAtDueSettlements } from "./advance.ts";
export type { SettlementDeps } from "./deps.ts";
export { listSwaps } from "./list.ts";
export { acceptBalance, acceptValue } from "./steps/accept.ts";
export { followCompleted } from "./steps/follow.ts";
export { lookForRefills } from "./steps/refill.ts";
export { lookAtUnsettled } from "./steps/recheck.ts";
export { noteGivenBack } from "./steps/deliver.ts";
export { putOff as putOffSettlement } from "./store.ts";
