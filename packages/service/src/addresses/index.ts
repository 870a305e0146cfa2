export { listAddresses } from "./list.ts";
export { assertDerived, issueAddress } from "./issue.ts";
export { getById as getAddressById, listByWallets } from "./store.ts";
export type { DepositAddress, Recipient } from "./types.ts";
