export { maintainEvents, RETENTION_MS } from "./retention.ts";
export {
  appendEvent,
  appendEvents,
  getNewestStamp,
  listEvents,
  lockStamps,
  type NewEvent,
} from "./store.ts";
export { createTail, type Tail } from "./tail.ts";
