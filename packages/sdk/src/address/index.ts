/** Computes and verifies deposit addresses offline. */
export {
  COMMITMENT_DOMAIN,
  COMMITMENT_FIELDS,
  COMMITMENT_VERSION,
  type CommitmentField,
  type CommitmentFields,
  hashCommitment,
  NO_ROUTE_SET,
  UNATTENDED,
  WALLET_KIND,
} from "./commitment.ts";
export { isSolanaAddress } from "./base58.ts";
export { type ChainSpecificAddress, toCaip10, toInteroperableAddress } from "./chain-specific.ts";
export { create2Address, implementationOf, predictWallet, walletInitCode } from "./create2.ts";
export {
  DELIVERY_DOMAIN,
  type DeliveryFields,
  deliveryId,
  type LockFields,
} from "./delivery-id.ts";
export { isAddress, toChecksumAddress } from "./eip55.ts";
export { AddressInputError, type Hex } from "./encoding.ts";
export {
  isRouteProven,
  proofOfRoute,
  rootOfRoutes,
  ROUTE_SET_MAX,
  type RouteLeaf,
} from "./route-set.ts";
export {
  type DepositOf,
  encodeAnnounceSettlement,
  encodeRefund,
  encodeSettleUnattended,
} from "./rescue.ts";
export {
  encodeAnnounceTakeBack,
  encodeCancelTakeBack,
  encodeTakeBack,
  type TakeBackOf,
} from "./take-back.ts";
export {
  type ClaimedCommitment,
  type Mismatch,
  type Verification,
  type VerifiedField,
  verifyDepositAddress,
  type VerifyRequest,
} from "./verify.ts";
export {
  BINDING_DOMAIN,
  type ClaimedVault,
  readBinding,
  type SignedBinding,
  type VaultVerification,
  type VerifyVaultRequest,
} from "./binding.ts";
export { verifyVault } from "./verify-vault.ts";
