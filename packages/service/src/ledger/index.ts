/** The ledger: where every base unit is. Lines are written by the database (migration 0007); here they are proved. */
export { type Audit, auditChain, type AuditDeps, nonceTaken } from "./audit.ts";
export {
  type Breach,
  endBreach,
  type Finding,
  INVARIANTS,
  isHalted,
  listBreaches,
  recordFindings,
} from "./breaches.ts";
export type { RouteAudit, RouteAuditDeps } from "./route-audit.ts";
export { listUnsettled, type Unsettled } from "./unsettled.ts";
