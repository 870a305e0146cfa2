export {
  type ByHand,
  createKeyByHand,
  recordIntegratorAction,
  revokeKeyByHand,
  rotateKeyByHand,
  setKeyByHand,
} from "./actions.ts";
export {
  createIntegrator,
  ensureOwnIntegrator,
  findIntegrator,
  isNameTaken,
  listIntegrators,
  OWN_PREFIX,
  readGasPolicy,
  setAddressTerms,
  setGasPolicy,
  setRefundSolana,
} from "./integrators.ts";
export {
  authenticate,
  createKey,
  isAllowedFrom,
  isMissing,
  type KeyFacts,
  type KeyHolder,
  type KeyRights,
  type KeySettings,
  listKeys,
  type Principal,
  readKeyRecord,
  readRights,
  revokeKey,
  rotateKey,
  setKey,
} from "./keys.ts";
export { addKeyUse, deleteOldKeyUsage, type KeyUse, readKeyUsage } from "./key-usage.ts";
export {
  assertAddressQuota,
  type OwnLimits,
  QuotaExceeded,
  type Quotas,
  readSettlementQuota,
  setLimits,
} from "./quotas.ts";
