/**
 * No statement of a caller or of a deposit scans or sorts a table that grows, on a million rows of many integrators. The
 * statements are recorded while the service's own code runs, and explained with the values that it gave them [T179].
 */
import { createHash } from "node:crypto";
import { Kysely, PostgresDialect, sql } from "kysely";
import { afterAll, beforeAll, expect, test } from "vitest";
import { DEPOSIT_FINALITY_STATES, EVENT_TYPES, SETTLEMENT_STATUS_NAMES } from "@sluice/sdk/wire";
import { toAddress, toHex32, toTxHash } from "../src/core/hex.ts";
import type { Database, Db } from "../src/db/schema.ts";
import { createTail, listEvents } from "../src/events/index.ts";
import { releaseDeposits } from "../src/deposits/assign.ts";
import { listDepositsOf } from "../src/deposits/shown.ts";
import { createRounds } from "../src/jobs/turns.ts";
import {
  listHeld,
  listHoldingReasons,
  listWaitingForGas,
  listWaitingForInventory,
} from "../src/settlements/store/due.ts";
import { createRows } from "../src/health/index.ts";
import { systemClock } from "../src/roles/system-ports.ts";
import {
  listAllSettlements,
  listCompletedSpans,
  type OperatorCursor,
  type OperatorFilter,
} from "../src/settlements/index.ts";
import {
  DELIVERY_STATES,
  getDelivery,
  insertTest,
  listDeliveries,
  listEndpoints,
  purgeDeliveries,
  resendEvent,
  resendRange,
  WEBHOOK_GAUGES,
} from "../src/webhooks/index.ts";
import { countSettlements, getSweptAfter } from "../src/settlements/store/read.ts";
import { getLatestPrice, nextNumber } from "../src/routes/swift/attestations.ts";
import { createTestApi } from "./support/api.ts";
import { createTestDatabase, type TestDatabase } from "./support/database.ts";
import { insertHistory, ROWS, walletOf, WALLETS } from "./support/million-rows.ts";
import { createTenant, insertEvent, insertStatusEvent, type Tenant } from "./support/tenants.ts";
import {
  createEndpointDeps,
  createTestDispatcher,
  insertEndpoint,
  startReceiver,
} from "./support/webhooks.ts";

const TENANTS = 40;

/** Tables with rows of history or of strangers. Of the others a process reads few rows, however long it runs. */
const GROWING =
  /^(settlements|deposits|events.*|addresses|attestations|attestation_answers|deliveries|transactions|attempts|outflows|settlement_transitions|webhook_deliveries|webhook_attempts)$/;

interface Recorded {
  readonly text: string;
  readonly values: readonly unknown[];
}

let database: TestDatabase;
let big: Tenant;
let recorder: Db;
let recorded: Recorded[] = [];

const OLD = "2020-01-01T00:00:00.000Z";
const NEW = "2090-01-01T00:00:00.000Z";
const NO_UUID = "00000000-0000-4000-8000-000000000000";
const WALLET = walletOf(2);
const USER = `0x${(2).toString(16).padStart(40, "0")}`;
const HASH = `0x${createHash("sha256").update("t2").digest("hex")}`;

/** Id of a row of the history, such as `s2`. */
function idOf(row: string): string {
  const hex = createHash("sha256").update(row).digest("hex").slice(0, 32);
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-");
}

beforeAll(async () => {
  database = await createTestDatabase();
  const { db, pool } = database;
  big = await createTenant(db);
  const others: Tenant[] = [];
  for (let n = 1; n < TENANTS; n++) others.push(await createTenant(db));
  const ids = [big, ...others].map(({ id }) => id);
  // Payloads in the form of the wire, which the answers are held against.
  await insertEvent(db, big);
  await insertStatusEvent(db, big, NO_UUID);
  recorder = new Kysely<Database>({
    dialect: new PostgresDialect({ pool }),
    log(event) {
      recorded.push({ text: event.query.sql, values: event.query.parameters });
    },
  });
  await insertHistory(db, { tenants: ids, chains: { usual: 2, rare: 30 }, also: insertStrangers });
  await insertWebhooks(
    db,
    others.map(({ id }) => id),
  );
}, 600_000);
afterAll(() => database.drop());

/** Endpoints of webhooks of strangers, and the deliveries of each. */
const ENDPOINTS = 1_000;
const DELIVERIES = ROWS / ENDPOINTS;

/**
 * Inserts deliveries to endpoints of strangers: of some endpoints all wait for a retry, of some they failed, of most they
 * arrived.
 */
async function insertWebhooks(session: Db, integratorIds: readonly string[]): Promise<void> {
  await sql`insert into webhook_cursors
    select id, '2100-01-01' from unnest(${[...integratorIds]}::uuid[]) as id`.execute(session);
  await sql`insert into webhook_endpoints
      (id, integrator_id, url, extended, ordered, state, since, failing_since, created_at)
    select md5('endpoint' || i)::uuid, (${[...integratorIds]}::uuid[])[1 + i % ${sql.lit(integratorIds.length)}],
      'http://127.0.0.1:1', false, i % 2 = 0, 'enabled', '2100-01-01', case when i % 20 = 0 then now() end, now()
    from generate_series(1, ${sql.lit(ENDPOINTS)}) as i`.execute(session);
  await sql`insert into webhook_deliveries
      (endpoint_id, event_id, integrator_id, type, event_at, order_key, state, attempts, tries, next_check_at)
    select endpoints.id, gen_random_uuid(), endpoints.integrator_id, 'status_changed',
      now() - i * interval '1 second', case when endpoints.ordered then 'k' || i % 50 end,
      case when endpoints.failing_since is not null then case when i % 2 = 0 then 'pending' else 'failed' end
           else 'delivered' end, 1, 1, now() + interval '10 hours'
    from webhook_endpoints as endpoints, generate_series(1, ${sql.lit(DELIVERIES)}) as i`.execute(
    session,
  );
  await sql`insert into webhook_attempts (endpoint_id, event_id, attempt, at, latency_ms, status)
    select endpoint_id, event_id, 1, event_at, 5, 200 from webhook_deliveries`.execute(session);
  // Vacuumed, as a database at rest is: without its map of visible rows an index is read otherwise.
  await sql`vacuum (analyze) webhook_deliveries, webhook_attempts, webhook_endpoints, webhook_cursors`.execute(
    session,
  );
}

/** Inserts rows of strangers that a list must not read. */
async function insertStrangers(session: Db): Promise<void> {
  await sql`insert into attestations (id, kind, delivery_id, request, deadline)
    select 'p' || i, 'price', '0x' || encode(sha256(('c' || (i % ${sql.lit(WALLETS)}))::bytea), 'hex'),
      jsonb_build_object('srcChain', '2', 'token', '0x', 'route', '0x'), 0
    from generate_series(0, ${sql.lit(ROWS / 4 - 1)}) as i`.execute(session);
  // All but the newest deposits are final.
  await sql`insert into scanner_finality (chain_id, number) select chain_id, ${sql.lit(ROWS - 100)}
    from (values (2), (30)) as chains (chain_id)`.execute(session);
  await sql`insert into scanner_blocks select 2, i, '0x' || i, '0x' || (i - 1) from generate_series(1, 300) as i`.execute(
    session,
  );
}

interface Plan {
  readonly "Node Type": string;
  readonly "Relation Name"?: string;
  readonly "Index Name"?: string;
  readonly "Actual Rows": number;
  readonly "Actual Loops": number;
  readonly "Rows Removed by Filter"?: number;
  readonly "Total Cost": number;
  readonly Plans?: readonly Plan[];
}

/** Returns a plan's nodes from the root. */
function* walk(plan: Plan): Generator<Plan> {
  yield plan;
  for (const child of plan.Plans ?? []) yield* walk(child);
}

async function planOf(text: string, values: readonly unknown[] = []): Promise<Plan> {
  const { rows } = await database.pool.query<{ "QUERY PLAN": readonly { readonly Plan: Plan }[] }>(
    `explain ${text}`,
    [...values],
  );
  const root = rows[0]?.["QUERY PLAN"][0]?.Plan;
  if (!root) throw new RangeError("expected a plan");
  return root;
}

/**
 * Returns the tables that a named statement would scan. PostgreSQL keeps a plan for all values if it costs no more than a plan
 * for these, with the cost of planning: https://www.postgresql.org/docs/current/sql-prepare.html
 */
async function findKeptScans(text: string, chosen: Plan): Promise<string[]> {
  const kept = await planOf(`(generic_plan, format json) ${text}`);
  const planning = 2.5 * ([...walk(chosen)].length + 1);
  if (kept["Total Cost"] > chosen["Total Cost"] + planning) return [];
  return [...walk(kept)].flatMap((node) => {
    const table = node["Relation Name"] ?? "";
    const isScan = node["Node Type"] === "Seq Scan" && GROWING.test(table);
    return isScan && node["Total Cost"] > SCAN_COST_MAX ? [`would scan ${table} by name`] : [];
  });
}

/** Of a table, or a partition of events, that holds few rows. */
const SCAN_COST_MAX = 100;

/** Returns the faults of a statement's plan, and the rows that it read beyond those that it returned. */
async function explain({ text, values }: Recorded) {
  const root = await planOf(`(analyze, format json) ${text}`, values);
  const nodes = [...walk(root)];
  const growing = nodes.some((node) => GROWING.test(node["Relation Name"] ?? ""));
  const faults = nodes.flatMap((node) => {
    const table = node["Relation Name"] ?? "";
    // A partition of events that holds few rows is read whole.
    const read = node["Actual Rows"] + (node["Rows Removed by Filter"] ?? 0);
    if (node["Node Type"] === "Seq Scan" && GROWING.test(table) && read > SCANNED_MAX)
      return [`scans ${table}`];
    const sorted = node["Actual Rows"] * node["Actual Loops"];
    if (node["Node Type"].endsWith("Sort") && growing && sorted > SORTED_MAX)
      return [`sorts ${sorted} rows`];
    return [];
  });
  // Tables with a row per chain are read whole.
  const counted = nodes.filter((node) => node["Relation Name"] !== "scanner_finality");
  const removed = counted.reduce(
    (sum, node) => sum + (node["Rows Removed by Filter"] ?? 0) * node["Actual Loops"],
    0,
  );
  return { faults: [...faults, ...(await findKeptScans(text, root))], removed };
}

/** Rows of a table so small that an index would not help. */
const SCANNED_MAX = 10;
/** Few rows may be sorted: those of one wallet or one settlement. */
const SORTED_MAX = 100;
/** Rows that a statement may read and reject. */
const REMOVED_MAX = 100;

/** Runs some of the service's code and explains its statements. */
async function examine(run: () => Promise<unknown>) {
  recorded = [];
  await run();
  const statements = recorded
    .splice(0)
    .filter(({ text }) => /^\s*(select|with|update|delete|insert)/i.test(text));
  expect(statements.length).toBeGreaterThan(0);
  const found: string[] = [];
  for (const statement of statements) {
    const { faults, removed } = await explain(statement);
    const all = removed > REMOVED_MAX ? [...faults, `rejects ${removed} rows`] : faults;
    found.push(...all.map((fault) => `${fault}: ${statement.text.slice(0, 300)}`));
  }
  return found;
}

/** The time from which an export of the history takes three pages. */
const RANGE = new Date(Date.now() - 20 * 86_400_000 + (ROWS - 2_400) * 1_000).toISOString();

/** Every filter and sort of the interface and of its additions, alone. */
const LISTS: readonly string[] = [
  "/deposit-addresses",
  `/deposit-addresses?cursor=${NEW}&limit=100`,
  `/deposit-addresses?walletAddress=${WALLET}`,
  `/deposit-addresses?userId=${USER}&limit=100`,
  "/deposit-addresses?destChain=30&limit=100",
  "/deposit-addresses?destChain=4",
  `/deposit-addresses?destToken=0x${"6".repeat(40)}`,
  `/deposit-addresses?from=${OLD}&to=${NEW}&limit=100`,
  `/deposit-addresses/${NO_UUID}`,
  "/swaps",
  `/swaps?cursor=${NEW}&limit=100`,
  `/swaps/${NO_UUID}`,
  ...SETTLEMENT_STATUS_NAMES.map((status) => `/swaps?status=${status}&limit=100`),
  `/swaps?walletAddress=${WALLET}`,
  `/swaps?userId=${USER}&limit=100`,
  "/swaps?chainId=30&limit=100",
  "/swaps?chainId=4",
  `/swaps?tokenAddress=0x${"5".repeat(40)}&limit=100`,
  `/swaps?tokenAddress=0x${"6".repeat(40)}`,
  `/swaps?txHash=${HASH}`,
  `/swaps?from=${OLD}&to=${NEW}&limit=100`,
  `/settlements/${idOf("s2")}`,
  "/deposits",
  `/deposits/${idOf("d2")}`,
  `/deposits?userId=${USER}&limit=100`,
  `/deposits?tokenAddress=0x${"5".repeat(40)}&limit=100`,
  `/deposits?tokenAddress=0x${"6".repeat(40)}`,
  `/deposits?settlementId=${idOf("s2")}`,
  "/deposits?queued=false&limit=100",
  "/deposits?queued=true&limit=100",
  `/deposits?from=${OLD}&to=${NEW}&limit=100`,
  `/deposits?cursor=${NEW}_${NO_UUID}&limit=100`,
  ...DEPOSIT_FINALITY_STATES.map((state) => `/deposits?finality=${state}&limit=100`),
  `/deposits?walletAddress=${WALLET}`,
  "/deposits?chainId=30&limit=100",
  "/deposits?chainId=4",
  `/deposits?txHash=${HASH}`,
  "/events",
  `/events?since=${OLD}&limit=200`,
  `/events?since=${NEW}`,
  ...EVENT_TYPES.map((type) => `/events?type=${type}&limit=200`),
  `/events?since=${OLD}&limit=200&extended=true`,
  `/events?walletAddress=${WALLET}`,
  `/events?userId=${USER}`,
  `/events?tokenAddress=0x${"6".repeat(40)}`,
  `/events?since=${OLD}&until=${NEW}&limit=200`,
  `/exports/deposits?from=${RANGE}`,
  `/exports/settlements?from=${RANGE}&format=csv`,
  `/exports/events?from=${RANGE}&to=${NEW}`,
];

test.each(LISTS)("GET %s reads by an index, in its order [T179]", async (path) => {
  const app = createTestApi({ db: recorder });
  const found = await examine(async () => {
    const answer = await app.inject({ url: path, headers: { "x-api-key": big.apiKey } });
    expect([200, 404]).toContain(answer.statusCode);
  });
  expect(found).toEqual([]);
  await app.close();
});

test("the stream reads by an index [T179]", async () => {
  const tail = createTail({ db: recorder, emit: () => {} });
  const found = await examine(async () => {
    await tail.join(big.id, () => true);
    await tail.pump();
    await listEvents(recorder, big.id, { since: OLD, limit: 100 });
  });
  expect(found).toEqual([]);
});

test("statements for each deposit and each settlement read by an index [T179]", async () => {
  const holding = {
    chainId: 2,
    wallet: toAddress(WALLET),
    token: toAddress(`0x${"5".repeat(40)}`),
  };
  const commitment = toHex32(`0x${createHash("sha256").update("c2").digest("hex")}`);
  const scope = { commitment, srcChain: 2, token: holding.token, route: holding.token };
  const attestors = { accounts: [], threshold: 1 };
  const settlement = createHash("sha256").update("s2").digest("hex").slice(0, 32);
  const found = await examine(async () => {
    await getSweptAfter(recorder, holding, { block: 5n, logIndex: 0 });
    await countSettlements(recorder, holding);
    await nextNumber(recorder, commitment, "price");
    // CAST: no attestation is counted.
    await getLatestPrice(recorder, attestors as never, scope, holding.wallet);
    await recorder.transaction().execute((tx) => releaseDeposits(tx, settlement, 0));
    await listDepositsOf(recorder, { id: settlement, ...holding });
  });
  expect(found).toEqual([]);
});

test("pages of waiting settlements read by an index [T236]", async () => {
  const page = { chainId: 2, nowMs: 0, limit: 200, rounds: createRounds() };
  const found = await examine(async () => {
    await listWaitingForGas(recorder, page);
    await listWaitingForInventory(recorder, page);
    await listHoldingReasons(recorder, { ...page, reasons: ["IsPaused", "paused"] });
    await listHeld(recorder, { ...page, reason: "IsPaused", deferredByMs: Date.parse(NEW) });
  });
  expect(found).toEqual([]);
});

/** Rows of a page of the operators' list. */
const DESK_PAGE = 51;

test.each([
  {},
  { after: { at: NEW, id: NO_UUID } },
  { status: "open" },
  { status: "failing" },
  ...SETTLEMENT_STATUS_NAMES.map((status) => ({ status })),
  { chainId: 30 },
  { chainId: 4 },
  { wallet: toAddress(WALLET) },
  { userId: USER },
  { txHash: toTxHash(HASH) },
  { status: "completed", chainId: 30 },
])("the operators' list by %o reads a page of each integrator [T179]", async (given) => {
  const { after, ...filter }: OperatorFilter & { readonly after?: OperatorCursor } = given;
  recorded = [];
  await listAllSettlements(recorder, { filter, limit: DESK_PAGE, after });
  const [statement] = recorded.splice(0);
  if (!statement) throw new RangeError("expected a statement");
  const { faults, removed } = await explain(statement);
  // The pages of the integrators are merged, and that is sorted.
  expect(faults.filter((fault) => !fault.startsWith("sorts"))).toEqual([]);
  expect(removed).toBeLessThan(TENANTS * DESK_PAGE);
});

test("charts of a day read the index of the time alone [T179]", async () => {
  recorded = [];
  await listCompletedSpans(recorder, { fromMs: Date.now() - 86_400_000, spanMs: 1_800_000 });
  const [{ text, values } = { text: "", values: [] }] = recorded.splice(0);
  const { rows } = await database.pool.query<{ "QUERY PLAN": string }>(`explain ${text}`, [
    ...values,
  ]);
  const plan = rows.map((row) => row["QUERY PLAN"]).join("\n");
  expect(plan).toContain("Index Only Scan using settlements_completed");
});

test("statements of webhooks read by an index [T230]", async () => {
  const receiver = await startReceiver();
  const sender = createTestDispatcher(recorder);
  const { id } = await insertEndpoint(database.db, big, receiver.url, { ordered: true });
  const { id: other } = await insertEndpoint(database.db, big, receiver.url, { extended: true });
  const ref = { integratorId: big.id, id };
  const deps = createEndpointDeps(recorder);
  const page = { limit: 100, cursor: undefined };
  const found = await examine(async () => {
    for (let n = 0; n < 3; n += 1) await insertEvent(database.db, big);
    await sender.drain();
    // Not recorded: the same row cannot be inserted again.
    await insertTest(createEndpointDeps(database.db), ref);
    await sender.drain();
    const { items } = await listDeliveries(recorder, ref, { ...page, state: undefined });
    for (const state of DELIVERY_STATES) await listDeliveries(recorder, ref, { ...page, state });
    const cursor = { stamp: NEW, id: NO_UUID };
    await listDeliveries(recorder, ref, { ...page, cursor, state: undefined });
    const eventId = items.find(({ test: isTest }) => !isTest)?.eventId ?? "";
    await getDelivery(recorder, ref, eventId);
    await resendEvent(deps, ref, eventId);
    await resendRange(deps, { ...ref, id: other }, { since: OLD, until: undefined });
    await listEndpoints(recorder, big.id, page);
    await createRows({ db: recorder, clock: systemClock, gauges: WEBHOOK_GAUGES }).read([
      "webhooks",
    ]);
    await purgeDeliveries(recorder, Date.now());
  });
  expect(found).toEqual([]);
  expect(receiver.arrived.length).toBeGreaterThanOrEqual(7);
  sender.close();
  receiver.close();
});

test("a list without its index is found out [T179]", async () => {
  const app = createTestApi({ db: recorder });
  await database.pool.query("drop index settlements_list_chain");
  const url = "/swaps?chainId=30&limit=100";
  const list = () => app.inject({ url, headers: { "x-api-key": big.apiKey } });
  expect(await examine(list)).not.toEqual([]);
  await app.close();
});
