/**
 * The lifecycle of a settlement as data: one row per status, one cell per trigger. A cell is the next status, or the
 * reason why the trigger cannot happen in that status. `docs/lifecycle.md` is generated from this table.
 *
 * Invariants: a status changes only through `transition` in `store/transition.ts`, which reads this table; the names
 * are the interface's own; `completed` and `dead` are terminal; a settlement with value in flight is never `dead`.
 */
import type { SettlementStatus } from "@sluice/sdk/wire";

/** Events that can change a status. */
export const TRIGGERS = [
  /** The wallet has code, from our deployment or another. */
  "wallet_ready",
  /** The deployment is committed to a lane, with the first sweep where that is possible now. */
  "deploy_planned",
  /** The sweep is committed to a lane, or its delivery continues after an error. */
  "sweep_planned",
  /** A step was attempted and failed; uses up a try. */
  "failed",
  /** A step could not be attempted, for a cause outside the settlement; uses up no try. */
  "deferred",
  /** Our own reader found the promised value at the destination wallet. */
  "delivered",
  /** No try is left, or no retry can help, and no value is in flight. */
  "given_up",
] as const;
export type Trigger = (typeof TRIGGERS)[number];

export type Cell =
  | { readonly to: SettlementStatus }
  /** The reason why the trigger cannot happen; a caller that tries has a bug. */
  | { readonly reject: string };

/** Returns whether the sweep or its delivery is under way without an error. */
export function isSweeping(status: SettlementStatus): boolean {
  return status === "swapping" || status === "settling";
}

/** Returns the initial status. `walletDeployed` is null on chains where wallets are not deployed. */
export function firstStatus(walletDeployed: boolean | null): SettlementStatus {
  if (walletDeployed === null) return "pending_settle";
  return walletDeployed ? "pending_swap" : "pending_deploy";
}

const to = (status: SettlementStatus): Cell => ({ to: status });
const reject = (why: string): Cell => ({ reject: why });

const FINAL = reject("a terminal status never changes");
const NO_WALLET = reject("a wallet without code is not swept");
const DEPLOYED = reject("the wallet has code");
const NOT_SWEPT = reject("nothing has left the wallet");
const NO_DEPLOYMENT = reject("wallets on this kind of chain are not deployed");

const FINAL_ROW: Readonly<Record<Trigger, Cell>> = {
  wallet_ready: FINAL,
  deploy_planned: FINAL,
  sweep_planned: FINAL,
  failed: FINAL,
  deferred: FINAL,
  delivered: FINAL,
  given_up: FINAL,
};

export const LIFECYCLE: Readonly<Record<SettlementStatus, Readonly<Record<Trigger, Cell>>>> = {
  pending_deploy: {
    wallet_ready: to("pending_swap"),
    deploy_planned: to("deploying"),
    sweep_planned: NO_WALLET,
    failed: to("failed_deploy"),
    deferred: to("failed_deploy"),
    delivered: NOT_SWEPT,
    given_up: to("dead"),
  },
  deploying: {
    wallet_ready: to("pending_swap"),
    deploy_planned: reject("one deployment at a time"),
    sweep_planned: NO_WALLET,
    failed: to("failed_deploy"),
    deferred: to("failed_deploy"),
    delivered: NOT_SWEPT,
    given_up: to("dead"),
  },
  failed_deploy: {
    wallet_ready: to("pending_swap"),
    deploy_planned: to("deploying"),
    sweep_planned: NO_WALLET,
    failed: to("failed_deploy"),
    deferred: to("failed_deploy"),
    delivered: NOT_SWEPT,
    given_up: to("dead"),
  },
  pending_swap: {
    wallet_ready: DEPLOYED,
    deploy_planned: DEPLOYED,
    sweep_planned: to("swapping"),
    failed: to("failed_swap"),
    deferred: to("failed_swap"),
    delivered: NOT_SWEPT,
    given_up: to("dead"),
  },
  swapping: {
    wallet_ready: DEPLOYED,
    deploy_planned: DEPLOYED,
    sweep_planned: reject("one sweep at a time"),
    failed: to("failed_swap"),
    deferred: to("failed_swap"),
    delivered: to("completed"),
    given_up: to("dead"),
  },
  failed_swap: {
    wallet_ready: DEPLOYED,
    deploy_planned: DEPLOYED,
    sweep_planned: to("swapping"),
    failed: to("failed_swap"),
    deferred: to("failed_swap"),
    delivered: to("completed"),
    given_up: to("dead"),
  },
  pending_settle: {
    wallet_ready: NO_DEPLOYMENT,
    deploy_planned: NO_DEPLOYMENT,
    sweep_planned: to("settling"),
    failed: to("failed_settle"),
    deferred: to("deferred"),
    delivered: NOT_SWEPT,
    given_up: to("dead"),
  },
  settling: {
    wallet_ready: NO_DEPLOYMENT,
    deploy_planned: NO_DEPLOYMENT,
    sweep_planned: reject("one sweep at a time"),
    failed: to("failed_settle"),
    deferred: to("failed_settle"),
    delivered: to("completed"),
    given_up: to("dead"),
  },
  deferred: {
    wallet_ready: NO_DEPLOYMENT,
    deploy_planned: NO_DEPLOYMENT,
    sweep_planned: to("settling"),
    failed: to("failed_settle"),
    deferred: to("deferred"),
    delivered: NOT_SWEPT,
    given_up: to("dead"),
  },
  failed_settle: {
    wallet_ready: NO_DEPLOYMENT,
    deploy_planned: NO_DEPLOYMENT,
    sweep_planned: to("settling"),
    failed: to("failed_settle"),
    deferred: to("deferred"),
    delivered: to("completed"),
    given_up: to("dead"),
  },
  completed: FINAL_ROW,
  dead: FINAL_ROW,
};
