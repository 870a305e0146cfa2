import { sql } from "kysely";
import {
  type DepositDetectedDetails,
  type ExtendedEventType,
  type RefundChangedDetails,
  type RefundDetectedDetails,
  EVENT_TYPES,
  type EventItem,
  type ExtendedEventItem,
  type StatusChangedDetails,
} from "@sluice/sdk/wire";
import type { Random } from "../core/ports.ts";
import { gatherCalls } from "../db/gather.ts";
import { compileOnce, type Places } from "../db/compiled.ts";
import type { Db, Tx } from "../db/schema.ts";

/**
 * Takes the integrator's stamp lock until the end of the transaction. Its holder gets the next stamp and commits before
 * the next holder. It is a separate statement, so that later statements see the previous holder's commit.
 */
export async function lockStamps(tx: Tx, integratorId: string): Promise<void> {
  await sql`select lock_stamps(${integratorId}::uuid)`.execute(tx);
}

/** An event to append. */
export interface NewEvent {
  readonly integratorId: string;
  readonly type: ExtendedEventType;
  readonly data: Readonly<Record<string, unknown>>;
  /** For readers that ask for them. Part of the event: they are never changed. */
  readonly details?:
    | DepositDetectedDetails
    | StatusChangedDetails
    | RefundDetectedDetails
    | RefundChangedDetails;
}

/** Appends an event in the caller's transaction. Should be its last statement, to keep the stamp lock short. */
export async function appendEvent(tx: Tx, random: Random, event: NewEvent): Promise<void> {
  await appendGathered(tx, { id: random.uuid(), ...event });
}

const appendGathered = gatherCalls(async (tx, events: readonly IdentifiedEvent[]) => {
  await insertEvents(tx, events);
  return events.map(() => undefined);
});

type IdentifiedEvent = NewEvent & { readonly id: string };

/** Appends events in this order, for each integrator, in one statement. */
export async function appendEvents(
  tx: Tx,
  random: Random,
  events: readonly NewEvent[],
): Promise<void> {
  await insertEvents(
    tx,
    events.map((event) => ({ id: random.uuid(), ...event })),
  );
}

async function insertEvents(tx: Db | Tx, events: readonly IdentifiedEvent[]): Promise<void> {
  // It takes several integrators' locks in the order of their ids.
  await sql`select append_events(
    ${events.map(({ id }) => id)}::uuid[],
    ${events.map(({ integratorId }) => integratorId)}::uuid[],
    ${events.map(({ type }) => type)}::text[],
    ${events.map(({ data }) => JSON.stringify(data))}::jsonb[],
    ${events.map(({ details }) => (details ? JSON.stringify(details) : null))}::jsonb[])`.execute(
    tx,
  );
}

/** A page of an integrator's events. */
export interface EventsPage {
  readonly since?: string | undefined;
  readonly type?: ExtendedEventType | undefined;
  /** In the display spelling, as stored in the payload. */
  readonly walletAddress?: string | undefined;
  /** In the display spelling. */
  readonly tokenAddress?: string | undefined;
  /** The user in the details. */
  readonly userId?: string | undefined;
  /** Up to this stamp. */
  readonly until?: string | undefined;
  readonly limit: number;
}

/**
 * Returns at most `limit` events of the published types strictly after a stamp, oldest first; from the oldest kept event
 * when `since` is undefined. `more` is true when another event exists.
 */
export async function listEvents(
  db: Db,
  integratorId: string,
  page: EventsPage,
): Promise<{ readonly items: EventItem[]; readonly more: boolean }> {
  const rows = await readPage(db, valuesOf(integratorId, page));
  // CAST: type and data were written together by appendEvent, whose callers build the wire's payloads.
  const items = rows.slice(0, page.limit) as unknown as EventItem[];
  return { items, more: rows.length > page.limit };
}

/** Returns a page like `listEvents`, of events of every type with their details: the form of stream, replay and webhooks. */
export async function listExtendedEvents(
  db: Db,
  integratorId: string,
  page: EventsPage,
): Promise<{ readonly items: ExtendedEventItem[]; readonly more: boolean }> {
  const rows = await readExtendedPage(db, valuesOf(integratorId, page));
  // CAST: as above.
  const items = rows.slice(0, page.limit) as unknown as ExtendedEventItem[];
  return { items, more: rows.length > page.limit };
}

/** Rows per statement of an export. */
const EXPORT_PAGE = 500;

/** Yields pages of an integrator's kept events of every type with their details, of a time range, oldest first. */
export async function* iterateEvents(
  db: Db,
  integratorId: string,
  { from, to }: { readonly from?: string | undefined; readonly to?: string | undefined },
): AsyncGenerator<readonly ExtendedEventItem[], void> {
  let after: string | undefined;
  for (;;) {
    let query = db
      .selectFrom("events")
      .select(["id", "type", "data", "created_at as timestamp", "details"])
      .where("integrator_id", "=", integratorId)
      .orderBy("created_at")
      .limit(EXPORT_PAGE);
    if (after !== undefined) query = query.where("created_at", ">", after);
    else if (from !== undefined) query = query.where("created_at", ">=", from);
    if (to !== undefined) query = query.where("created_at", "<", to);
    // CAST: as in listEvents.
    const items = (await query.execute()) as unknown as ExtendedEventItem[];
    if (items.length > 0) yield items;
    after = items.length < EXPORT_PAGE ? undefined : items.at(-1)?.timestamp;
    if (after === undefined) return;
  }
}

/** Returns an event as readers that did not ask for details see it; null for one of a type that they do not see. */
export function withoutDetails(event: ExtendedEventItem): EventItem | null {
  if (!EVENT_TYPES.some((type) => type === event.type)) return null;
  const { id, type, data, timestamp } = event;
  // CAST: type and data belong together, which taking them apart hides from the compiler.
  return { id, type, data, timestamp } as EventItem;
}

/** A page and one row more, which shows whether another page follows. */
interface PageValues extends Omit<EventsPage, "limit"> {
  readonly integratorId: string;
  readonly rows: number;
}

function valuesOf(integratorId: string, { limit, ...page }: EventsPage): PageValues {
  return { ...page, integratorId, rows: limit + 1 };
}

const readPage = compileOnce((db, page: Places<PageValues>) =>
  selectEvents(db, page).where("type", "in", EVENT_TYPES),
);

const readExtendedPage = compileOnce((db, page: Places<PageValues>) =>
  selectEvents(db, page).select("details"),
);

function selectEvents(db: Db | Tx, page: Places<PageValues>) {
  let query = db
    .selectFrom("events")
    .select(["id", "type", "data", "created_at as timestamp"])
    .where("integrator_id", "=", page.integratorId)
    .orderBy("created_at")
    .limit(page.rows);
  if (page.since !== undefined) query = query.where("created_at", ">", page.since);
  if (page.type !== undefined) query = query.where("type", "=", page.type);
  if (page.walletAddress !== undefined) {
    query = query.where(sql<boolean>`data ->> 'walletAddress' = ${page.walletAddress}`);
  }
  if (page.tokenAddress !== undefined) {
    query = query.where(sql<boolean>`data ->> 'tokenAddress' = ${page.tokenAddress}`);
  }
  if (page.userId !== undefined) {
    query = query.where(sql<boolean>`details ->> 'userId' = ${page.userId}`);
  }
  if (page.until !== undefined) query = query.where("created_at", "<=", page.until);
  return query;
}

/** Returns the events of an integrator with these stamps, in any order. Those that are no longer kept are left out. */
export async function listEventsAt(
  db: Db,
  integratorId: string,
  stamps: readonly string[],
): Promise<ExtendedEventItem[]> {
  const rows = await db
    .selectFrom("events")
    .select(["id", "type", "data", "details", "created_at as timestamp"])
    .where("events.integrator_id", "=", integratorId)
    .where(sql<boolean>`created_at = any(${[...stamps]}::timestamptz[])`)
    .execute();
  // CAST: as in listEvents.
  return rows as unknown as ExtendedEventItem[];
}

/** Returns the stamp of an integrator's newest event, or null. Streams start here, never from a clock. */
export async function getNewestStamp(db: Db, integratorId: string): Promise<string | null> {
  const row = await db
    .selectFrom("events")
    .select("created_at")
    .where("integrator_id", "=", integratorId)
    .orderBy("created_at", "desc")
    .limit(1)
    .executeTakeFirst();
  return row?.created_at ?? null;
}

/** Returns the integrators that have events after their cursor, in one query for any number of cursors. */
export async function listBehind(db: Db, cursors: ReadonlyMap<string, string>): Promise<string[]> {
  if (cursors.size === 0) return [];
  const { rows } = await sql<{ id: string }>`
    select behind.id
    from unnest(${[...cursors.keys()]}::uuid[], ${[...cursors.values()]}::timestamptz[])
      as behind (id, cursor)
    where exists (
      select from events where integrator_id = behind.id and created_at > behind.cursor
    )`.execute(db);
  return rows.map(({ id }) => id);
}
