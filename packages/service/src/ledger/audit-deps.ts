/** Dependencies of the auditor of one chain. */
import type { Chain, Chains } from "../chains/port/index.ts";
import type { Address } from "../core/hex.ts";
import type { Clock } from "../core/ports.ts";
import type { Db } from "../db/schema.ts";
import type { Log } from "../telemetry/log.ts";
import type { RouteAudit } from "./route-audit.ts";

export interface AuditDeps {
  readonly db: Db;
  readonly chain: Chain;
  /** The audits of the kinds of routes. */
  readonly routes: readonly RouteAudit[];
  /** Destination chains of the chain's settlements. */
  readonly chains: Chains;
  /** Configured tokens of the chain; the zero address is the native coin. */
  readonly tokens: readonly Address[];
  readonly clock: Clock;
  readonly log: Log;
}
