export { maintainEvents, RETENTION_MS } from "./retention.ts";
export { appendEvent, getNewestStamp, listEvents, lockStamps } from "./store.ts";
export { createTail, type Tail } from "./tail.ts";
