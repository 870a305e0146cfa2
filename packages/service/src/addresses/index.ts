export { findAddress, formatCommitment, iterateAddresses, listAddresses } from "./list.ts";
export { assertDerived, type FindVault, issueAddress } from "./issue.ts";
export { findWalletByCommitment, getById as getAddressById, listByWallets } from "./store.ts";
export { expireFresh, keepFresh } from "./fresh.ts";
export { listInRanges, type WalletList, type WalletRange } from "./ranges.ts";
export { listRefundAuthorities } from "./refund-authorities.ts";
export type { DepositAddress, Destination } from "./types.ts";
