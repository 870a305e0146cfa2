import type { Chain, Chains } from "../chains/port/index.ts";
import type { Address } from "../core/hex.ts";
import type { Db } from "../db/schema.ts";
import type { Minimums } from "../deposits/index.ts";
import type { Fees } from "../fees/index.ts";
import { getConfigured, type RouteBook } from "../routes/index.ts";
import type { Log } from "../telemetry/log.ts";
import type { Holding } from "../deposits/index.ts";
import type { StoreDeps } from "./store/transition.ts";

export interface SettlementLanes {
  readonly deploy: readonly Address[];
  readonly settle: readonly Address[];
}

/** What the settlement steps work with; composed by the settler role. */
export interface SettlementDeps extends StoreDeps {
  readonly db: Db;
  readonly chains: Chains;
  readonly routes: RouteBook;
  readonly fees: Fees;
  readonly log: Log;
  /** Senders per source chain; several of a kind share the work. */
  readonly lanes: ReadonlyMap<number, SettlementLanes>;
  /** What a balance of a token must reach at present. Passing trouble with a price is part of the answer. */
  readonly readMinimums: (chainId: number, token: Address) => Promise<Minimums>;
  /** Tells the streams of an integrator that there are events; called after the commit. */
  readonly wakeEvents: (integratorId: string) => void;
  /** Tells the lanes of a chain that there is something to send; called after the commit. */
  readonly wakeLanes: (chainId: number) => void;
  /** How often a waiting settlement is looked at when nothing wakes it, in milliseconds. */
  readonly pollMs: number;
  /** Delays of retries in milliseconds; the published schedule unless a test says otherwise. */
  readonly retryScheduleMs?: readonly number[];
}

/** Returns the senders for settlements of a chain. Throws CONFIG_MISSING, a deferral, where there are none any more. */
export function lanesOf(
  { lanes }: Pick<SettlementDeps, "lanes">,
  { chainId }: Pick<Holding, "chainId">,
): SettlementLanes {
  return getConfigured(lanes, chainId, "The chain of this settlement has no lanes.");
}

/** Returns the chain of a settlement. Throws CONFIG_MISSING, a deferral, where it is not configured any more. */
export function chainOf(
  { chains }: Pick<SettlementDeps, "chains">,
  { chainId }: Pick<Holding, "chainId">,
): Chain {
  return getConfigured(chains, chainId, "The chain of this settlement is not configured.");
}
