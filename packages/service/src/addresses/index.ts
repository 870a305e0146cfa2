export {
  findAddress,
  type AddressFilter,
  formatCommitment,
  iterateAddresses,
  listAddresses,
  listIssued,
} from "./list.ts";
export {
  assertDerived,
  type FindVault,
  issueAddress,
  issueAddresses,
  type WantedAddress,
} from "./issue.ts";
export { findWalletByCommitment, getById as getAddressById, listByWallets } from "./store.ts";
export { expireFresh, keepAllFresh, keepFresh } from "./fresh.ts";
export { listInRanges, type WalletList, type WalletRange } from "./ranges.ts";
export { listRefundAuthorities } from "./refund-authorities.ts";
export { isCommitted, proveRoute, rootOf } from "./route-set.ts";
export { listRouteSets } from "./route-sets.ts";
export type { DepositAddress, Destination, RouteSet } from "./types.ts";
export { listRetiredChains, readChainStates, retireChain, setDraining } from "./chain-actions.ts";
export { type AddressNotes, listNotes, NO_NOTES, putNotes } from "./notes.ts";
