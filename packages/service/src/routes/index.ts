export { withBreaker } from "./breaker.ts";
export { getConfigured, describeRoute, getChain, getChainConfig, getToken } from "./configured.ts";
export { assertPayable, assertRecipientAccepts } from "./payable.ts";
export { createRouteBook, type RouteBook } from "./book.ts";
export {
  type BridgeAttestations,
  createBridgeAttestations,
  SERVICE_FAILURES,
} from "./fast-mctp/bridge-attestations.ts";
export { listTransfers, type ShownTransfer } from "./fast-mctp/shown.ts";
export type { Delivered, RouteModule, ServiceCheckDeps, SettlerDeps } from "./module.ts";
export type {
  DeliveryProgress,
  Inventory,
  Pair,
  Reservation,
  ReservedInventory,
  Route,
  RouteQuote,
  Sweep,
  SweptSettlement,
} from "./port.ts";
export {
  createRoutes,
  moduleOf,
  ROUTE_AUDITS,
  ROUTE_DEFINITIONS,
  ROUTE_GAUGES,
  ROUTE_MODULES,
} from "./registry.ts";
export type { AttestationId } from "./swift/attestation-requests.ts";
export { getRefundAttestation, insertRefundAttestation } from "./swift/attested-refunds.ts";
export { findPayable } from "./swift/early/find-payable.ts";
export { describeEarly } from "./swift/early/describe.ts";
export { createEarlyRules } from "./swift/early/rules.ts";
export {
  acceptLoss as acceptEarlyLoss,
  close as closeEarly,
  type EarlyState,
  open as openEarly,
  readStates as readEarlyStates,
} from "./swift/early/store.ts";
export { judgeRefundReason, readStood, REFUND_LIFETIME_MAX_S } from "./swift/judge-refund.ts";
export { SWIFT_GAS } from "./swift/route.ts";
export { createClaimCapReader } from "./swift/claim-cap.ts";
export { listRouteSet } from "./route-set.ts";
export { readInventories, type ShownInventory } from "./shown-inventory.ts";
export { type InventoryReport, readFreeInventory, reportInventory } from "./swift/inventory.ts";
export { listOverdueClaims } from "./swift/overdue-claims.ts";
export { endLock, lockReservations } from "./swift/store.ts";
export { findNewestLock, listDeliveries, type ShownDelivery } from "./swift/shown.ts";
export type { RouteKind } from "../config/index.ts";
