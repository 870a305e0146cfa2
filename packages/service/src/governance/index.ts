/** Watches what the owner and the guardian of the contracts schedule and change, and whether this deployment expects it. */
export { EXECUTE_WITHIN_S, type Standing } from "./standing.ts";
export { type ShownChange, showChange } from "./shown.ts";
export { expectChange } from "./store.ts";
export { createGovernanceWatch, listUnexpected, readStanding } from "./watch.ts";
