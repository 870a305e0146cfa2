export {
  authenticate,
  createIntegrator,
  createKey,
  isMissing,
  listKeys,
  listRevoked,
  revokeKey,
  type Principal,
} from "./integrators.ts";
