/** The table of settlement statuses. The names are those of the published interface. */
import { CHAIN_KINDS, type ChainKind } from "./chain.ts";

/** Every status, in the order of the lifecycle. */
export const SETTLEMENT_STATUS_NAMES = [
  "pending_deploy",
  "deploying",
  "failed_deploy",
  "pending_swap",
  "swapping",
  "failed_swap",
  "pending_settle",
  "settling",
  "deferred",
  "failed_settle",
  "completed",
  "dead",
] as const;
/** The status of a settlement. */
export type SettlementStatus = (typeof SETTLEMENT_STATUS_NAMES)[number];

/** Every phase, in order. */
export const SETTLEMENT_PHASES = ["deploy", "swap", "settle", "done"] as const;
/** The phase of a settlement. */
export type SettlementPhase = (typeof SETTLEMENT_PHASES)[number];

/** Every category. */
export const SETTLEMENT_CATEGORIES = [
  "waiting",
  "active",
  "retrying",
  "success",
  "failed",
] as const;
/** The category of a status: what it means for the payment. */
export type SettlementCategory = (typeof SETTLEMENT_CATEGORIES)[number];

/** One row of the table of statuses. */
export interface SettlementStatusFacts {
  readonly phase: SettlementPhase;
  readonly category: SettlementCategory;
  /** True if no further transition will happen. */
  readonly terminal: boolean;
  /** Families of source chains on which the status occurs. */
  readonly chainKinds: readonly ChainKind[];
}

const EVM: readonly ChainKind[] = ["evm"];
const SVM: readonly ChainKind[] = ["svm"];

/** Properties of every status. Only `completed` means success, only `dead` means failure. */
export const SETTLEMENT_STATUSES: Readonly<Record<SettlementStatus, SettlementStatusFacts>> = {
  pending_deploy: { phase: "deploy", category: "waiting", terminal: false, chainKinds: EVM },
  deploying: { phase: "deploy", category: "active", terminal: false, chainKinds: EVM },
  failed_deploy: { phase: "deploy", category: "retrying", terminal: false, chainKinds: EVM },
  pending_swap: { phase: "swap", category: "waiting", terminal: false, chainKinds: EVM },
  swapping: { phase: "swap", category: "active", terminal: false, chainKinds: EVM },
  failed_swap: { phase: "swap", category: "retrying", terminal: false, chainKinds: EVM },
  pending_settle: { phase: "settle", category: "waiting", terminal: false, chainKinds: SVM },
  settling: { phase: "settle", category: "active", terminal: false, chainKinds: SVM },
  deferred: { phase: "settle", category: "retrying", terminal: false, chainKinds: SVM },
  failed_settle: { phase: "settle", category: "retrying", terminal: false, chainKinds: SVM },
  completed: { phase: "done", category: "success", terminal: true, chainKinds: CHAIN_KINDS },
  dead: { phase: "done", category: "failed", terminal: true, chainKinds: CHAIN_KINDS },
};

/** Returns the phase of a status. */
export function phaseOf(status: SettlementStatus): SettlementPhase {
  return SETTLEMENT_STATUSES[status].phase;
}

/** Returns the category of a status. */
export function categoryOf(status: SettlementStatus): SettlementCategory {
  return SETTLEMENT_STATUSES[status].category;
}

/** Reports whether a status is `completed` or `dead`. */
export function isTerminal(status: SettlementStatus): boolean {
  return SETTLEMENT_STATUSES[status].terminal;
}
