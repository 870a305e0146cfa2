/** The ledger accounts for every base unit. The database writes its lines (migration 0007); this folder audits them. */
export { type Audit, auditChain, nonceTaken } from "./audit.ts";
export { type AuditDeps } from "./audit-deps.ts";
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
