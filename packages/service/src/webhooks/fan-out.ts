/**
 * Inserts deliveries from the event log.
 *
 * Invariant: every event of an integrator after its cursor is read before the cursor passes it. Stamps increase in commit
 * order, so no event appears behind the cursor. The cursor moves in the transaction that inserts the deliveries.
 *
 * Lock order: the cursors, then deliveries. Whoever creates or enables an endpoint holds the cursor, so that the first event
 * of an endpoint is the one after its `since`.
 */
import { sql } from "kysely";
import { EVENT_TYPES } from "@sluice/sdk/wire";
import { formatStamp } from "../core/stamp.ts";
import type { Db } from "../db/schema.ts";

/** Events of one integrator per round. */
const PAGE = 200;
/** Integrators per round. */
export const INTEGRATORS_MAX = 100;

/** The result of a round. */
export interface FannedOut {
  /** Endpoints with new deliveries. */
  readonly endpointIds: readonly string[];
  /** Integrators that may have more events. */
  readonly more: readonly string[];
}

/** Returns integrators with events after their cursor. */
export async function listCursorsBehind(db: Db): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    select cursors.integrator_id as id from webhook_cursors as cursors
    where exists (
      select from events
      where events.integrator_id = cursors.integrator_id and events.created_at > cursors.cursor
    )
    limit ${INTEGRATORS_MAX}`.execute(db);
  return rows.map(({ id }) => id);
}

/** Inserts the deliveries of the next events of integrators. Integrators whose cursor another process holds are skipped. */
export async function fanOut(
  db: Db,
  integratorIds: readonly string[],
  nowMs: number,
): Promise<FannedOut> {
  if (integratorIds.length === 0) return { endpointIds: [], more: [] };
  const now = formatStamp(nowMs);
  return db.transaction().execute(async (tx) => {
    // A statement of its own: the next one sees the endpoints that the last holder of a cursor committed.
    const { rows: held } = await sql<{ id: string }>`
      select integrator_id as id from webhook_cursors
      where integrator_id = any(${[...integratorIds]}::uuid[])
      order by integrator_id for update skip locked`.execute(tx);
    if (held.length === 0) return { endpointIds: [], more: [] };
    const { rows } = await sql<{ kind: string; id: string }>`
      with page as(
        select found.* from webhook_cursors as cursors cross join lateral (
          select integrator_id, id, type, created_at,
                 concat_ws(' ', data ->> 'chainId', data ->> 'walletAddress', data ->> 'tokenAddress') as order_key
            from events
           where events.integrator_id = cursors.integrator_id and events.created_at > cursors.cursor
           order by events.created_at limit ${PAGE}
        ) as found
        where cursors.integrator_id = any(${held.map(({ id }) => id)}::uuid[])
      ), added as(
        insert into webhook_deliveries
          (endpoint_id, event_id, integrator_id, type, event_at, order_key, state, next_check_at)
        select endpoints.id, page.id, page.integrator_id, page.type, page.created_at,
               case when endpoints.ordered then nullif(page.order_key, '') end, 'pending', ${now}
          from page join webhook_endpoints as endpoints on endpoints.integrator_id = page.integrator_id
         where page.created_at > endpoints.since
           and (endpoints.state = 'enabled' or page.created_at <= endpoints.disabled_at)
           and (endpoints.types is null or page.type = any(endpoints.types))
           and (endpoints.extended or page.type = any(${[...EVENT_TYPES]}::text[]))
        on conflict do nothing
        returning endpoint_id
      ), moved as(
        update webhook_cursors as cursors set cursor = read.newest
          from (select integrator_id, max(created_at) as newest, count(*) as events
                  from page group by integrator_id) as read
         where cursors.integrator_id = read.integrator_id
        returning cursors.integrator_id, read.events
      )
      select distinct 'endpoint' as kind, endpoint_id as id from added
      union all
      select 'more', integrator_id from moved where events >= ${PAGE}`.execute(tx);
    const idsOf = (kind: string) => rows.filter((row) => row.kind === kind).map(({ id }) => id);
    return { endpointIds: idsOf("endpoint"), more: idsOf("more") };
  });
}
