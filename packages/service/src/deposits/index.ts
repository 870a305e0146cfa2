export { gateBalance, type GateResult } from "./gate.ts";
export {
  assignSwept,
  assignUnsettled,
  countOrphaned,
  insertDeposits,
  orphanAbove,
  refreshKnown,
} from "./store.ts";
export type { ArrivedValue, DepositOutcome, IgnoredReason } from "./types.ts";
