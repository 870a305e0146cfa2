/**
 * The lifecycle of a settlement as data: every status has a row, every trigger a cell. A cell is the next status, or
 * why the trigger cannot happen there. `docs/lifecycle.md` is drawn from this table.
 *
 * Invariants: a status changes only through `transition` in `store.ts`, which asks this table; the interface's names
 * are used to the letter; `completed` and `dead` are final; value that has left the wallet is never `dead`.
 */
import type { SettlementStatus } from "@sluice/sdk/wire";

/** What can happen to a settlement. */
export const TRIGGERS = [
  /** The wallet has code, by our deployment or somebody else's. */
  "wallet_ready",
  /** The deployment is committed to a lane. */
  "deploy_planned",
  /** The sweep is committed to a lane, or its delivery goes on after trouble. */
  "sweep_planned",
  /** A step was attempted and failed, for the first time or again. */
  "failed",
  /** A step could not be attempted for a cause outside the settlement, for the first time or again. */
  "deferred",
  /** Our own reader saw the promised value in the committed wallet. */
  "delivered",
  /** No retry is left, or none may help, and no value is in flight. */
  "given_up",
] as const;
export type Trigger = (typeof TRIGGERS)[number];

export type Cell =
  | { readonly to: SettlementStatus }
  /** Why it cannot happen; an attempt is a bug. */
  | { readonly reject: string };

/** Whether the sweep is on its way, and nothing is wrong with it. */
export function isSweeping(status: SettlementStatus): boolean {
  return status === "swapping" || status === "settling";
}

/** Returns the status a settlement begins with. `walletDeployed` is null where nothing is deployed. */
export function firstStatus(walletDeployed: boolean | null): SettlementStatus {
  if (walletDeployed === null) return "pending_settle";
  return walletDeployed ? "pending_swap" : "pending_deploy";
}

const to = (status: SettlementStatus): Cell => ({ to: status });
const reject = (why: string): Cell => ({ reject: why });

const FINAL = reject("a final settlement never changes");
const NO_WALLET = reject("a wallet without code is not swept");
const DEPLOYED = reject("the wallet has code");
const NOT_SWEPT = reject("nothing has left the wallet");
const NO_DEPLOYMENT = reject("this family has no deployment");

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
