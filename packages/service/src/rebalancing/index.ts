export {
  type Direction,
  isLocalTo,
  listDirections,
  listOwnIntegrators,
  listRefilled,
} from "./directions.ts";
export {
  cancelMove,
  listNewest as listNewestMoves,
  listOpen as listOpenMoves,
  type Move,
} from "./store.ts";
export { createRebalancingPoll, readLevels, readSource, type RebalancingDeps } from "./worker.ts";
export { askMove, checkMove, type MoveRequest } from "./ask.ts";
export { MOVE_GAUGES } from "./gauges.ts";
export { showMove } from "./shown.ts";
