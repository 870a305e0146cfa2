export {
  authenticate,
  createIntegrator,
  createKey,
  listKeys,
  listRevoked,
  revokeKey,
  type Principal,
} from "./integrators.ts";
