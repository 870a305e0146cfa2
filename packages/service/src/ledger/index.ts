/** The ledger accounts for every base unit. The database writes its lines (migration 0007); this folder audits them. */
export { reverseAdjustmentsAbove } from "./accounts.ts";
export { type Audit, auditChain, nonceTaken } from "./audit.ts";
export { type AuditDeps } from "./audit-deps.ts";
export { auditFinal } from "./audit-final.ts";
export {
  type Breach,
  type Finding,
  type Halt,
  haltsChain,
  isHalted,
  isQuarantined,
  listBreaches,
  mayRemoveFinal,
  OF_HALTS,
  OF_UNPROVED,
  readHalt,
  recordFindings,
  recordHeld,
  toFinding,
} from "./breaches.ts";
export { type DescribedBreach, describeBreach } from "./describe-breach.ts";
export { type Earned, listEarned, sumFees } from "./earned.ts";
export { endBreach, type EndDeps } from "./end-breach.ts";
export { readFinalPoint } from "./final-point.ts";
export { type Audited, auditInTurns, type Found, mapAtOnce } from "./map-at-once.ts";
export type { RouteAudit, RouteAuditDeps } from "./route-audit.ts";
export { lockCursor, readTip as readScannedTip } from "./scanned.ts";
export { createTotals, type Total } from "./totals.ts";
export { listUnsettled, type Unsettled } from "./unsettled.ts";
export { INVARIANTS, type Verdict, VERDICT_NAMES, VERDICTS } from "./verdicts.ts";
