export { maintainEvents, RETENTION_MS } from "./retention.ts";
export {
  appendEvent,
  appendEvents,
  type EventsPage,
  getNewestStamp,
  iterateEvents,
  listEvents,
  listEventsAt,
  listExtendedEvents,
  lockStamps,
  type NewEvent,
  withoutDetails,
} from "./store.ts";
export { createTail, type Tail } from "./tail.ts";
