/** The ledger accounts for every base unit. The database writes its lines (migration 0007); this folder audits them. */
export { type Audit, auditChain, nonceTaken } from "./audit.ts";
export { type AuditDeps } from "./audit-deps.ts";
export { auditFinal } from "./audit-final.ts";
export {
  type Breach,
  type Finding,
  type Halt,
  isHalted,
  isQuarantined,
  listBreaches,
  mayRemoveFinal,
  readHalt,
  recordFindings,
  toFinding,
} from "./breaches.ts";
export { endBreach, type EndDeps } from "./end-breach.ts";
export { readFinalPoint } from "./final-point.ts";
export { mapAtOnce } from "./map-at-once.ts";
export type { RouteAudit, RouteAuditDeps } from "./route-audit.ts";
export { readTip as readScannedTip } from "./scanned.ts";
export { listUnsettled, type Unsettled } from "./unsettled.ts";
export { INVARIANTS, type Verdict, VERDICT_NAMES, VERDICTS } from "./verdicts.ts";
