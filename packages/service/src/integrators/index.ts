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
  setGasPolicy,
  type Principal,
} from "./integrators.ts";
