/** All kinds of routes. A new kind is one line here; nothing is loaded by name. */
import type { Config, RouteDefinition } from "../config/index.ts";
import { assert } from "../core/assert.ts";
import type { RouteAudit } from "../ledger/index.ts";
import type { RowGauge } from "../telemetry/row-gauge.ts";
import { createRouteBook, type RouteBook } from "./book.ts";
import { withBreaker } from "./breaker.ts";
import { fastMctp } from "./fast-mctp/module.ts";
import type { RouteDeps, RouteModule } from "./module.ts";
import { monoChain } from "./mono-chain/module.ts";
import type { RouteKind } from "../config/index.ts";
import { swift } from "./swift/module.ts";

export const ROUTE_MODULES: readonly RouteModule[] = [monoChain, swift, fastMctp];

/** Configuration of each kind. */
export const ROUTE_DEFINITIONS: readonly RouteDefinition[] = ROUTE_MODULES.map(
  ({ definition }) => definition,
);

/** Audits of the kinds that have one. */
export const ROUTE_AUDITS: readonly RouteAudit[] = ROUTE_MODULES.flatMap(
  ({ audit }) => audit ?? [],
);

/** Gauges of all kinds. */
export const ROUTE_GAUGES: readonly RowGauge[] = ROUTE_MODULES.flatMap(
  ({ gauges }) => gauges ?? [],
);

/** Returns the module of a route's kind. */
export function moduleOf({ kind }: { readonly kind: RouteKind }): RouteModule {
  const module = ROUTE_MODULES.find((known) => known.kind === kind);
  assert(module, "every kind of route has a module");
  return module;
}

/** Creates the enabled routes in the order of the configuration, each with its own circuit breaker. */
export function createRoutes(config: Config, deps: Omit<RouteDeps, "config">): RouteBook {
  return createRouteBook(
    config.routes.map((route) => moduleOf(route).create(route, { ...deps, config })),
    (route) => withBreaker(route, deps),
  );
}
