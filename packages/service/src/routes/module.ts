/**
 * The parts of the service that differ between kinds of routes, in one object per kind. The registry lists the modules;
 * composition hands them, or functions of them, to the rooms that work for every kind and import none.
 */
import type { Chains } from "../chains/port.ts";
import type { Config, RouteConfig } from "../config/load.ts";
import type { Clock, Random } from "../core/ports.ts";
import type { Db } from "../db/schema.ts";
import type { GasStep } from "../fees/index.ts";
import type { Prices } from "../prices/index.ts";
import type { Attestations } from "./fast-mctp/attestations.ts";
import type { Route, RouteKind } from "./port.ts";

/** The configured route of a kind. */
export type RouteConfigOf<Kind extends RouteKind> = Extract<RouteConfig, { readonly kind: Kind }>;

/** What routes of a process work with. */
export interface RouteDeps {
  readonly config: Pick<Config, "chains">;
  readonly db: Db;
  readonly clock: Clock;
  readonly random: Random;
  readonly chains: Chains;
  readonly prices: Prices;
  /** The client of Circle's attestation service; null where no route needs it. */
  readonly attestations: Attestations | null;
  /** Tells the attestor that there is something to sign. */
  readonly wakeAttestor: () => void;
}

/** One kind of route. Each method is given routes of this kind only. */
export interface RouteModule<Own extends RouteConfig = RouteConfig> {
  readonly kind: Own["kind"];
  /** Lists the transactions of a settlement, besides the deployment of its wallet. */
  listGasSteps(route: Own): readonly GasStep[];
  /** Creates a configured route. Throws CONFIG_MISSING where something that it needs is not configured. */
  create(route: Own, deps: RouteDeps): Route;
}
