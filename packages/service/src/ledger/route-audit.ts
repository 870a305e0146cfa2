/** Parts of the audit that depend on the kind of route; composition passes them in. */
import type { RawBuilder } from "kysely";
import type { BlockRef, Chain, Chains } from "../chains/port/index.ts";
import type { Clock } from "../core/ports.ts";
import type { Db } from "../db/schema.ts";
import type { Log } from "../telemetry/log.ts";
import type { Found } from "./map-at-once.ts";

/** Dependencies of a route's audit. */
export interface RouteAuditDeps {
  readonly db: Db;
  /** The source chain. */
  readonly chain: Chain;
  /** Destination chains of its deliveries. */
  readonly chains: Chains;
  readonly clock: Clock;
  readonly log: Log;
}

/** Audit of one kind of route that holds value between the sweep and the delivery. */
export interface RouteAudit {
  /** V5: compares recorded deliveries with the destination chain, the next ones or all. */
  auditDelivered(deps: RouteAuditDeps, scope: "next" | "all"): Promise<Found>;
  /** V2: compares value in flight with the balance of our contract that holds it. Absent without such a contract. */
  auditHeld?(deps: RouteAuditDeps, block: BlockRef): Promise<Found>;
  readonly inFlight: {
    /** Selects a row if a worker still follows the value in flight of the settlement `s`. */
    readonly followed: RawBuilder<unknown>;
    /** State of the value in flight, for operators. */
    readonly shown: {
      readonly name: string;
      /** Selects the `state` for the settlement `h.own`, at most one row. */
      readonly state: RawBuilder<unknown>;
    };
  };
}
