export { findAddress, formatCommitment, iterateAddresses, listAddresses } from "./list.ts";
export { assertDerived, type FindVault, issueAddress } from "./issue.ts";
export {
  findWalletByCommitment,
  getById as getAddressById,
  listByWallets,
  listNewestWallets,
  listWalletsAfter,
} from "./store.ts";
export { listRefundAuthorities } from "./refund-authorities.ts";
export type { DepositAddress, Destination } from "./types.ts";
