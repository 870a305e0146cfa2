export {
  authenticate,
  createIntegrator,
  createKey,
  findIntegrator,
  isMissing,
  listKeys,
  listRevoked,
  revokeKey,
  type Principal,
} from "./integrators.ts";
