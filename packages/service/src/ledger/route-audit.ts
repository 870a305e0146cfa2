/** The parts of the audit that differ between kinds of routes; composition hands them over. */
import type { RawBuilder } from "kysely";
import type { BlockRef, Chain, Chains } from "../chains/port/index.ts";
import type { Clock } from "../core/ports.ts";
import type { Db } from "../db/schema.ts";
import type { Finding } from "./breaches.ts";

/** What the questions of a kind of route are asked with. */
export interface RouteAuditDeps {
  readonly db: Db;
  /** The source chain. */
  readonly chain: Chain;
  /** Where its deliveries are looked for. */
  readonly chains: Chains;
  readonly clock: Clock;
}

/** The audit of one kind of route, whose value is elsewhere between its sweep and its delivery. */
export interface RouteAudit {
  /** V5: compares recorded deliveries with the destination, those not compared before or all. */
  auditDelivered(deps: RouteAuditDeps, scope: "next" | "all"): Promise<Finding[]>;
  /** V2: compares value in flight with the contract that holds it, where one of ours does. */
  auditHeld?(deps: RouteAuditDeps, block: BlockRef): Promise<Finding[]>;
  readonly inFlight: {
    /** Selects a row where something still follows what the settlement `s` has in flight. */
    readonly followed: RawBuilder<unknown>;
    /** The state of what a settlement has in flight, for people. */
    readonly shown: {
      readonly name: string;
      /** Selects the `state` for the settlement `h.own`, at most one row. */
      readonly state: RawBuilder<unknown>;
    };
  };
}
