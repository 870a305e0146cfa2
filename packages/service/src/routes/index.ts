export { withBreaker } from "./breaker.ts";
export { assertPayable } from "./payable.ts";
export { createRouteBook, type RouteBook } from "./book.ts";
export {
  type Attestations,
  type BridgeFees,
  createAttestations,
  SERVICE_FAILURES,
  SHARE_DECIMALS,
} from "./fast-mctp/attestations.ts";
export { lookAtDueTransfers, type RelayDeps } from "./fast-mctp/relay.ts";
export { createFastMctpRoute } from "./fast-mctp/route.ts";
export { createSwapMctpRoute } from "./fast-mctp/swap.ts";
export { wakeOfSettlement as wakeTransferOfSettlement } from "./fast-mctp/store.ts";
export { createMonoChainRoute } from "./mono-chain/route.ts";
export { createSwapRoute } from "./mono-chain/swap.ts";
export type {
  DeliveryLook,
  Inventory,
  Pair,
  Reservation,
  Route,
  RouteKind,
  RouteQuote,
  Sweep,
  SweptSettlement,
} from "./port.ts";
export { type AttestedPair, type AttestorDeps, lookAtRequests } from "./swift/attest.ts";
export { type DeliveryDeps, lookAtDueDeliveries } from "./swift/deliver.ts";
export { type InventoryReport, reportInventory } from "./swift/inventory.ts";
export { createPricing } from "./swift/pricing.ts";
export { createSwiftRoute } from "./swift/route.ts";
export { wakeOfSettlement as wakeDeliveryOfSettlement } from "./swift/store.ts";
