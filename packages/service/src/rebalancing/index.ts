export { type Direction, listDirections, listOwnIntegrators, listRefilled } from "./directions.ts";
export { cancelMove, listNewest as listNewestMoves, listOpen as listOpenMoves } from "./store.ts";
export { createRebalancingPoll, readSource } from "./worker.ts";
export { askMove, checkMove, type MoveRequest, parseAmount } from "./ask.ts";
export { findHolding, type Holding, readHoldings, type SilentToken } from "./holdings.ts";
export { MOVE_GAUGES } from "./gauges.ts";
export { showMove } from "./shown.ts";
