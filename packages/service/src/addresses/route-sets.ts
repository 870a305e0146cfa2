/** The sets of routes that issued addresses commit to, for the doctor. */
import { sql } from "kysely";
import { type Hex32, toHex32 } from "../core/hex.ts";
import type { Db } from "../db/schema.ts";
import { parseRouteSet } from "./route-set.ts";
import type { RouteSet } from "./types.ts";

/** Returns each distinct set with the number of its addresses, the most used first. */
export async function listRouteSets(
  db: Db,
): Promise<
  readonly { readonly root: Hex32; readonly routeSet: RouteSet; readonly addresses: number }[]
> {
  const rows = await db
    .selectFrom("addresses")
    .select(["routes", "route_set", sql<number>`count(*)::integer`.as("addresses")])
    .where("fixed", "=", true)
    .groupBy(["routes", "route_set"])
    .orderBy("addresses", "desc")
    .orderBy("routes")
    .execute();
  return rows.map(({ routes, route_set, addresses }) => ({
    root: toHex32(routes),
    routeSet: parseRouteSet(route_set),
    addresses,
  }));
}
