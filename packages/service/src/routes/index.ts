export { createRouteBook, type RouteBook } from "./book.ts";
export { createMonoChainRoute } from "./mono-chain/route.ts";
export type {
  DeliveryLook,
  Inventory,
  Pair,
  Route,
  RouteKind,
  RouteQuote,
  Sweep,
  SweptSettlement,
} from "./port.ts";
export { type AttestorDeps, lookAtRequests } from "./swift/attest.ts";
export { type DeliveryDeps, lookAtDueDeliveries } from "./swift/deliver.ts";
export { createSwiftRoute } from "./swift/route.ts";
export { wakeOfSettlement as wakeDeliveryOfSettlement } from "./swift/store.ts";
