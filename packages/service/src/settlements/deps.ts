import type { DepositAddress } from "../addresses/index.ts";
import type { Chain, Chains } from "../chains/port/index.ts";
import type { Address } from "../core/hex.ts";
import type { Db } from "../db/schema.ts";
import type { Minimums } from "../deposits/index.ts";
import type { Quotas } from "../integrators/index.ts";
import type { Fees } from "../fees/index.ts";
import { getConfigured, type Route, type RouteBook } from "../routes/index.ts";
import type { Log } from "../telemetry/log.ts";
import type { Holding } from "../deposits/index.ts";
import type { AttestedRefunds } from "./operator/attested-refund.ts";
import type { StoreDeps } from "./store/transition.ts";

/** Sender accounts for the settlements of a chain; several of one purpose share the work. */
export interface SettlementLanes {
  readonly deploy: readonly Address[];
  readonly settle: readonly Address[];
}

/** Dependencies of the intake, which queues settlements for arrived value and by request. */
export interface IntakeDeps extends StoreDeps {
  readonly db: Db;
  readonly chains: Chains;
  readonly routes: RouteBook;
  /** Quotas of integrators without their own. */
  readonly quotas: Quotas;
  readonly log: Log;
  /** Reads the current minimums of a token. A missing price is part of the result, not an error. */
  readonly readMinimums: (chainId: number, token: Address) => Promise<Minimums>;
  /** Wakes an integrator's streams because there are new events; called after the commit. */
  readonly wakeEvents: (integratorId: string) => void;
  /** Wakes the settlements of a source chain because one may be due; called after the commit. */
  readonly wakeSettlements: (chainId: number) => void;
}

/** Dependencies of the settlement steps; composed by the settler role. */
export interface SettlementDeps extends IntakeDeps {
  readonly fees: Fees;
  /** Reads an address; a process remembers it, since nothing of it ever changes. */
  readonly readAddress: (id: string) => Promise<DepositAddress>;
  /** Whether deposits are screened before their sweep; not without the setting. */
  readonly screens?: boolean;
  /** Senders per source chain. */
  readonly lanes: ReadonlyMap<number, SettlementLanes>;
  /** Wakes a lane, or all lanes of a chain, because there is a new intent; called after the commit. */
  readonly wakeLanes: (chainId: number, lane?: Address) => void;
  /** Tells the worker of a kind of route that a sweep left it something to deliver. */
  readonly wakeDeliveries: (route: Pick<Route, "kind" | "pair">) => void;
  /** Refunds by policy; without them only the refund authority refunds where wallets are contracts. */
  readonly attestedRefunds?: AttestedRefunds;
  /** Poll interval of a waiting settlement that nothing wakes, in milliseconds. */
  readonly pollMs: number;
  /** Delays of retries in milliseconds; the published schedule unless a test says otherwise. */
  readonly retryScheduleMs?: readonly number[];
}

/** Returns the senders for settlements of a chain. Throws CONFIG_MISSING, a deferral, when they are no longer configured. */
export function lanesOf(
  { lanes }: Pick<SettlementDeps, "lanes">,
  { chainId }: Pick<Holding, "chainId">,
): SettlementLanes {
  return getConfigured(lanes, chainId, "The chain of this settlement has no lanes.");
}

/** Returns the chain of a settlement. Throws CONFIG_MISSING, a deferral, when it is no longer configured. */
export function chainOf(
  { chains }: Pick<SettlementDeps, "chains">,
  { chainId }: Pick<Holding, "chainId">,
): Chain {
  return getConfigured(chains, chainId, "The chain of this settlement is not configured.");
}
