export {
  authenticate,
  createIntegrator,
  createKey,
  findIntegrator,
  isMissing,
  listIntegrators,
  listKeys,
  listRevoked,
  readGasPolicy,
  revokeKey,
  setAddressTerms,
  setGasPolicy,
  setRefundSolana,
  type Principal,
} from "./integrators.ts";
export {
  assertAddressQuota,
  type OwnLimits,
  QuotaExceeded,
  type Quotas,
  readSettlementQuota,
  setLimits,
} from "./quotas.ts";
