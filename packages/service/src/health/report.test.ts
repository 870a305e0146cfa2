import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createTestDatabase, type TestDatabase } from "../../test/support/database.ts";
import { createStillClock, createStrictChain, hashOf, LANE } from "../../test/support/doubles.ts";
import {
  createHex,
  createTenant,
  insertAddress,
  insertSettlement,
  USDC,
} from "../../test/support/tenants.ts";
import { formatStamp } from "../core/stamp.ts";
import { toEvmAddress, toHex32 } from "../core/hex.ts";
import { ROUTE_GAUGES } from "../routes/index.ts";
import { createMetrics } from "../telemetry/metrics.ts";
import { openRowGauge } from "../telemetry/row-gauge.ts";
import { readChain, type ReadingsOfChain } from "./readings.ts";
import { renderMetrics, type ReportDeps, reportReadiness } from "./report.ts";
import { createRows } from "./rows.ts";
import { createVitals } from "./vitals.ts";

const MINUTE_MS = 60_000;
const DELIVERY = toEvmAddress(`0x${"de".repeat(20)}`);
const TOKEN = toEvmAddress(USDC);

let database: TestDatabase;
let settlementId: string;
let wallet: string;

beforeAll(async () => {
  database = await createTestDatabase();
  const { db } = database;
  const tenant = await createTenant(db);
  const address = await insertAddress(db, tenant);
  wallet = address.wallet;
  await insertSettlement(db, tenant, address, { status: "completed" });
  const error = { code: "TX_REVERTED", retryable: false };
  await insertSettlement(db, tenant, address, { status: "dead", error });
  settlementId = await insertSettlement(db, tenant, address, { status: "swapping" });
  const blocks = [41, 42].map((number) => ({
    chain_id: 2,
    number,
    hash: createHex(32),
    parent_hash: createHex(32),
  }));
  await db.insertInto("scanner_blocks").values(blocks).execute();
  const change = {
    chain_id: 2,
    block_number: 39n,
    log_index: 0,
    tx_hash: createHex(32),
    contract: USDC,
    role: "attestor",
    subject: USDC,
    step: "scheduled",
    at_deployment: false,
  };
  await db
    .insertInto("governance_changes")
    .values([
      { ...change, unexpected: true },
      { ...change, log_index: 1 },
    ])
    .execute();
  const watched = { read_to: 40n, complete_at: formatStamp(Date.now()) };
  await db
    .insertInto("governance_watches")
    .values([2, 30].map((chainId) => ({ chain_id: chainId, ...watched })))
    .execute();
  await db.insertInto("scanner_finality").values({ chain_id: 2, number: 40n }).execute();
  const openId = crypto.randomUUID();
  const transaction = {
    chain_id: 2,
    lane: LANE,
    settlement_id: settlementId,
    to_address: USDC,
    data: "0x",
    value: 0n,
    gas: 1n,
  };
  await db
    .insertInto("transactions")
    .values([
      { ...transaction, id: openId, intent: "sweep:a:1", nonce: 7, state: "assigned" },
      { ...transaction, id: crypto.randomUUID(), intent: "sweep:b:1", state: "queued" },
    ])
    .execute();
  // Signed six minutes ago, and replaced just now.
  await db
    .insertInto("attempts")
    .values(
      [1, 2].map((number) => ({
        hash: createHex(32),
        transaction_id: openId,
        number,
        raw: "0x",
        max_fee_per_gas: 1n,
        max_priority_fee_per_gas: 1n,
        created_at: formatStamp(Date.now() - (number === 1 ? 6 * MINUTE_MS : 0)),
        sent_at: null,
      })),
    )
    .execute();
  const lane = { chain_id: 2, address: LANE, purpose: "settle", next_nonce: 8 };
  const former = { ...lane, address: USDC };
  await db.insertInto("lanes").values([lane, former]).execute();
  const reservation = { settlement_id: settlementId, dest_chain: 30, token: USDC, amount: 5n };
  await db.insertInto("inventory_reservations").values(reservation).execute();
  const transfer = {
    settlement_id: settlementId,
    src_chain: 2,
    burn_tx_hash: createHex(32),
    burn_block: 42n,
    wallet,
    token: USDC,
    fee: 1n,
    burned_amount: 5n,
    sent_message: "0x",
    min_out: 5n,
    dest_chain: 30,
    dest_token: USDC,
    dest_wallet: wallet,
    next_check_at: formatStamp(Date.now()),
  };
  await db
    .insertInto("bridge_transfers")
    .values([
      { ...transfer, id: crypto.randomUUID(), state: "burned" },
      { ...transfer, id: crypto.randomUUID(), state: "superseded" },
    ])
    .execute();
  await db
    .insertInto("attestations")
    .values(
      [1, 2].map((number) => ({
        id: `delivery:${createHex(32)}:${number}`,
        kind: "delivery",
        delivery_id: createHex(32),
        request: "{}",
        // Only the first has not expired.
        deadline: number === 1 ? 4_000_000_000n : 1n,
      })),
    )
    .execute();
});
afterAll(async () => {
  await database.drop();
});

const ALL = ["scanner", "settler", "attestor", "auditor", "api"] as const;

function open(
  given: { readonly roles?: readonly string[]; readonly db?: ReportDeps["rows"] } = {},
) {
  const { db, pool } = database;
  const clock = createStillClock(Date.now());
  const metrics = createMetrics();
  const vitals = createVitals(clock, given.roles ?? ALL);
  const chain = (chainId: number) =>
    createStrictChain({
      chainId,
      addresses: { walletRoot: DELIVERY, escrow: DELIVERY, delivery: DELIVERY },
      getHead: async () => {
        const hash = toHex32(hashOf("head"));
        return { number: 45n, hash, parentHash: hash };
      },
      getBalance: async (token) => (token === TOKEN ? 1_000n : 3n * 10n ** 18n),
      getDailyCapLeft: async () => 900n,
      getTransactionCount: async () => 6,
    });
  const readings: ReadingsOfChain[] = [
    { chain: chain(2), head: true, lanes: [{ purpose: "settle", address: LANE }], inventory: [] },
    {
      chain: chain(30),
      head: false,
      lanes: [],
      inventory: [{ token: TOKEN, symbol: "USDC", min: 700n }],
    },
  ];
  // A still clock's sleep ends at once and would report a database timeout; this sleep ends only when aborted.
  const patient = {
    ...clock,
    sleep: (_ms: number, signal?: AbortSignal) =>
      new Promise<void>((resolve) => signal?.addEventListener("abort", () => resolve())),
  };
  const deps: ReportDeps = {
    metrics,
    gauges: ROUTE_GAUGES.map((gauge) => openRowGauge(metrics.registry, gauge)),
    vitals,
    readings,
    rows: given.db ?? createRows({ db, clock, gauges: ROUTE_GAUGES }),
    clock: patient,
    pools: [["shared", pool]],
    countSockets: () => 3,
  };
  return { deps, vitals, clock, metrics, readings };
}

describe("metrics", () => {
  test("show rows and readings of open work only", async () => {
    const { deps, vitals, metrics, readings } = open();
    for (const role of ALL) vitals.started(role);
    vitals.watchScanner(2);
    for (const wanted of readings) await readChain(metrics, wanted);
    const text = await renderMetrics(deps);
    const lane = `chain="ethereum",purpose="settle",account="${LANE}"`;
    for (const line of [
      "sluice_database_up 1",
      'sluice_role_running{role="scanner"} 1',
      'sluice_scanner_head_height{chain="ethereum"} 45',
      'sluice_scanner_scanned_height{chain="ethereum"} 42',
      'sluice_scanner_final_height{chain="ethereum"} 40',
      'sluice_scanner_lag_blocks{chain="ethereum"} 3',
      'sluice_scanner_final_lag_blocks{chain="ethereum"} 5',
      'sluice_scanner_last_block_age_seconds{chain="ethereum"} 0',
      'sluice_settlements{chain="ethereum",status="swapping"} 1',
      `sluice_lane_open_nonces{${lane}} 1`,
      `sluice_lane_queued_transactions{${lane}} 1`,
      `sluice_lane_next_nonce{${lane}} 8`,
      `sluice_lane_chain_nonce{${lane}} 6`,
      `sluice_lane_nonce_gap{${lane}} 2`,
      `sluice_lane_stuck_attempts{${lane}} 1`,
      `sluice_lane_balance_wei{${lane}} 3000000000000000000`,
      'sluice_inventory_balance_base_units{chain="base",token="USDC"} 1000',
      'sluice_inventory_reserved_base_units{chain="base",token="USDC"} 5',
      'sluice_inventory_min_base_units{chain="base",token="USDC"} 700',
      'sluice_inventory_daily_cap_left_base_units{chain="base",token="USDC"} 900',
      'sluice_attestation_requests_open{kind="delivery"} 1',
      'sluice_governance_unexpected_changes{chain="ethereum"} 1',
      'sluice_governance_unexpected_changes{chain="base"} 0',
      'sluice_bridge_transfers{chain="base",state="burned"} 1',
      "sluice_stream_sockets 3",
    ]) {
      expect(text.split("\n")).toContain(line);
    }
    // Only configured lanes are shown.
    expect(text.match(/^sluice_lane_next_nonce/gm)).toHaveLength(1);
    expect(text).not.toMatch(/status="(completed|dead)"/);
    expect(text).toMatch(/sluice_settlements_oldest_active_age_seconds\{chain="ethereum"\} [\d.]+/);
    expect(text).toMatch(/sluice_lane_oldest_open_nonce_age_seconds\{[^}]+\} [\d.]+/);
    expect(text.match(/^sluice_bridge_transfers\{/gm)).toHaveLength(1);
    expect(text).toMatch(
      /sluice_bridge_transfers_oldest_age_seconds\{chain="base",state="burned"\} [\d.]+/,
    );
    expect(text).not.toContain(wallet);
    expect(text).not.toContain(settlementId);
  });

  test("omit the rows of roles that the process lacks or has not started", async () => {
    const { deps, vitals } = open({ roles: ["api", "attestor"] });
    vitals.started("api");
    const text = await renderMetrics(deps);
    expect(text).toContain('sluice_role_running{role="attestor"} 0');
    expect(text).not.toMatch(/^sluice_(settlements|scanner_scanned_height|attestation_\w+){/m);
  });

  test("query the database once for all scrapes within a second", async () => {
    let asked = 0;
    const { db } = database;
    const clock = createStillClock();
    const counting = db.withPlugin({
      transformQuery({ node }) {
        asked += 1;
        return node;
      },
      transformResult: async ({ result }) => result,
    });
    const rows = createRows({ db: counting, clock, gauges: ROUTE_GAUGES });
    await Promise.all(Array.from({ length: 20 }, () => rows.read(["settler"])));
    expect(asked).toBe(1);
    clock.advance(1_000);
    await rows.read(["settler"]);
    expect(asked).toBe(2);
  });

  test("omit a value that the node did not answer", async () => {
    const { deps, metrics } = open();
    const head = { value: 45n };
    const chain = createStrictChain({
      chainId: 2,
      getHead: async () => {
        if (head.value === 0n) throw new Error("away");
        const hash = toHex32(hashOf("head"));
        return { number: head.value, hash, parentHash: hash };
      },
    });
    const wanted = { chain, head: true, lanes: [], inventory: [] };
    await readChain(metrics, wanted);
    expect(await renderMetrics(deps)).toContain('sluice_scanner_head_height{chain="ethereum"} 45');
    head.value = 0n;
    await expect(readChain(metrics, wanted)).rejects.toThrow("away");
    expect(await renderMetrics(deps)).not.toContain('sluice_scanner_head_height{chain="ethereum"}');
  });
});

describe("readiness", () => {
  test("warns of halted chains, quarantines and overdue claims, which no restart would change", async () => {
    const row = { chainId: 2, label: null, value: 1, oldestS: null };
    const { deps, vitals } = open({
      roles: ["auditor", "settler"],
      db: {
        read: async () => [
          { ...row, name: "breaches" },
          { ...row, name: "breaches", chainId: 30, value: 0 },
          { ...row, name: "quarantines", value: 3 },
          { ...row, name: "claims_overdue", label: "6h", value: 2, oldestS: 90_000 },
          { ...row, name: "claims_overdue", label: "24h", oldestS: 90_000 },
          { ...row, name: "deliveries", label: "locked", value: 9 },
        ],
      },
    });
    for (const role of ["auditor", "settler"]) vitals.started(role);
    expect(await reportReadiness(deps)).toMatchObject({
      ok: true,
      warnings: [
        { kind: "audit_breaches", chain: "ethereum", count: 1 },
        { kind: "audit_quarantines", chain: "ethereum", count: 3 },
        { kind: "claims_overdue", chain: "ethereum", count: 2 },
      ],
    });
  });

  test("is ok once every role has started", async () => {
    const { deps, vitals } = open();
    vitals.watchScanner(2);
    const waiting = await reportReadiness(deps);
    expect(waiting.ok).toBe(false);
    expect(waiting.roles.scanner).toEqual({
      ok: false,
      reason: "not started: it waits for the database, or another process",
    });
    for (const role of ALL) vitals.started(role);
    expect(await reportReadiness(deps)).toEqual({
      ok: true,
      warnings: [{ kind: "governance_unexpected_changes", chain: "ethereum", count: 1 }],
      roles: Object.fromEntries(ALL.map((role) => [role, { ok: true, reason: null }])),
      chains: { ethereum: { lagBlocks: null, finalLagBlocks: null, lastBlockSeconds: 0 } },
    });
  });

  test("fails only for the role whose loop is overdue", async () => {
    const { deps, vitals, clock } = open();
    for (const role of ALL) vitals.started(role);
    const finished = vitals.watchLoop({ role: "settler", name: "lane", intervalMs: 1_000 });
    clock.advance(5 * MINUTE_MS);
    expect((await reportReadiness(deps)).ok).toBe(true);
    clock.advance(MINUTE_MS);
    const { ok, roles } = await reportReadiness(deps);
    expect(ok).toBe(false);
    expect(roles.settler?.reason).toBe('the loop "lane" has finished no poll for 360 s');
    expect(roles.api?.ok).toBe(true);
    finished();
    expect((await reportReadiness(deps)).ok).toBe(true);
  });

  test("fails for a scanner that never catches up or sees no new block", async () => {
    const { deps, vitals, clock } = open();
    for (const role of ALL) vitals.started(role);
    const scanner = vitals.watchScanner(2);
    const pass = (ms: number, note: () => void) => {
      clock.advance(ms);
      note();
    };
    pass(6 * MINUTE_MS, scanner.moved);
    expect((await reportReadiness(deps)).roles.scanner?.reason).toBe(
      "the scanner of ethereum is behind for 360 s",
    );
    scanner.caughtUp();
    expect((await reportReadiness(deps)).ok).toBe(true);
    pass(6 * MINUTE_MS, scanner.caughtUp);
    expect((await reportReadiness(deps)).roles.scanner?.reason).toBe(
      "no block of ethereum for 360 s",
    );
    scanner.moved();
    expect((await reportReadiness(deps)).ok).toBe(true);
  });

  test("fails for every role while the database is unavailable, and metrics show it", async () => {
    const away = { read: () => Promise.reject(new Error("no connection")) };
    const { deps, vitals } = open({ db: away });
    for (const role of ALL) vitals.started(role);
    const { ok, roles } = await reportReadiness(deps);
    expect(ok).toBe(false);
    expect(Object.values(roles).map(({ reason }) => reason)).toEqual(
      ALL.map(() => "the database does not answer"),
    );
    const text = await renderMetrics(deps);
    expect(text).toContain("sluice_database_up 0");
    expect(text).not.toMatch(
      /^sluice_(settlements|lane_open_nonces|inventory_reserved_base_units){/m,
    );
  });

  test("fails when the database does not answer in time", async () => {
    const { deps, vitals } = open({ db: { read: () => new Promise(() => undefined) } });
    for (const role of ALL) vitals.started(role);
    const { ok } = await reportReadiness({ ...deps, clock: createStillClock() });
    expect(ok).toBe(false);
  });
});
