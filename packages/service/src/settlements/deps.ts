import type { Chain, Chains } from "../chains/port/index.ts";
import { OperatingError } from "../core/errors.ts";
import type { Address } from "../core/hex.ts";
import type { Db } from "../db/schema.ts";
import type { Minimums } from "../deposits/index.ts";
import type { Fees } from "../fees/index.ts";
import type { RouteBook } from "../routes/index.ts";
import type { Log } from "../telemetry/log.ts";
import type { Holding } from "../deposits/index.ts";
import type { StoreDeps } from "./store/transition.ts";

/** What the settlement steps work with; composed by the settler role. */
export interface SettlementDeps extends StoreDeps {
  readonly db: Db;
  readonly chains: Chains;
  readonly routes: RouteBook;
  readonly fees: Fees;
  readonly log: Log;
  /** Senders per source chain; several of a kind share the work. */
  readonly lanes: ReadonlyMap<
    number,
    { readonly deploy: readonly Address[]; readonly settle: readonly Address[] }
  >;
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

/** Who sends for settlements of a chain; a deferral when nobody does any more. */
export function settleLanesOf(
  deps: Pick<SettlementDeps, "lanes">,
  { chainId }: Pick<Holding, "chainId">,
): readonly Address[] {
  const lanes = deps.lanes.get(chainId);
  if (lanes) return lanes.settle;
  throw new OperatingError("CONFIG_MISSING", "The chain of this settlement has no lanes.", {
    details: { chainId },
  });
}

/** The chain of a settlement; a deferral when it is not configured any more. */
export function chainOf(
  deps: Pick<SettlementDeps, "chains">,
  holding: Pick<Holding, "chainId">,
): Chain {
  const chain = deps.chains.get(holding.chainId);
  if (chain) return chain;
  throw new OperatingError("CONFIG_MISSING", "The chain of this settlement is not configured.", {
    details: { chainId: holding.chainId },
  });
}
