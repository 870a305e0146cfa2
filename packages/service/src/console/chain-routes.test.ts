/** Pages of the console about chains, nodes and time, and their actions. */
import type {
  ConsoleChainFile,
  ConsoleLog,
  ConsoleReadings,
  ConsoleTrends,
} from "@sluice/sdk/wire";
import { sql } from "kysely";
import { describe, expect, test } from "vitest";
import { blockAt } from "../../test/support/books.ts";
import { openConsole } from "../../test/support/console-desk.ts";
import { createStrictChain, LANE, silentLog } from "../../test/support/doubles.ts";
import { FACTORY } from "../../test/support/settlement-desk.ts";
import { formatStamp } from "../core/stamp.ts";
import { createReadings } from "./readings.ts";
import { listBreaches, recordFindings, toFinding } from "../ledger/index.ts";

const REASON = { reason: "ticket 7" };

/** Opens a console whose chain has a breach, a lane with a sent transaction, and a change that nobody expects. */
async function openTroubled() {
  const opened = await openConsole();
  const { db } = opened;
  await recordFindings(db, [
    toFinding("lock_claimed_unpaid", { chainId: 2, subject: FACTORY, details: { missing: "5" } }),
  ]);
  await sql`insert into audit_rounds values (2, 9, now(), '')`.execute(db);
  await sql`insert into lanes (chain_id, address, purpose, next_nonce) values (2, ${LANE}, 'settle', 8)`.execute(
    db,
  );
  await sql`insert into transactions (id, chain_id, lane, intent, to_address, data, value, gas, nonce, state)
    values ('00000000-0000-4000-8000-000000000007', 2, ${LANE}, 'sweep:x', ${FACTORY}, '0x', 0, 21000, 7, 'assigned')`.execute(
    db,
  );
  await sql`insert into governance_changes
      (chain_id, block_number, log_index, tx_hash, contract, role, subject, step, at_deployment)
    values (2, 9, 0, ${`0x${"ab".repeat(32)}`}, ${FACTORY}, 'attestor', ${FACTORY}, 'in_force', false)`.execute(
    db,
  );
  const file = async (browser: Awaited<ReturnType<typeof opened.join>>) =>
    browser.get<ConsoleChainFile>("/api/chains/2");
  return { ...opened, file };
}

describe("a chain", () => {
  test("shows breaches with cause and remedy, open transactions, and unexpected changes", async () => {
    const { join, file } = await openTroubled();
    const viewer = await join("Vi", "viewer");
    expect(await file(viewer)).toMatchObject({
      chain: { chainId: 2, breaches: 1, unmined: 1 },
      state: "open",
      breaches: [
        {
          facts: [["missing", "5"]],
          heldSince: null,
          effect: expect.stringContaining("nothing is signed or sent"),
          cause: expect.any(String),
          remedy: expect.any(String),
        },
      ],
      transactions: [{ nonce: 7, state: "assigned", isCancellable: true }],
      changes: [{ isExpected: false, state: "in force" }],
    });
    expect((await viewer.send("GET", "/api/chains/3")).statusCode).toBe(404);
  });

  test.each([
    ["end a breach", "/api/breaches/1/end", REASON],
    ["cancel a nonce", "/api/chains/2/cancel-nonce", { ...REASON, lane: LANE, nonce: 7 }],
    ["fill a nonce", "/api/chains/2/fill-nonce", { ...REASON, lane: LANE, nonce: 8 }],
    ["drain", "/api/chains/2/drain", REASON],
    ["open again", "/api/chains/2/resume", REASON],
    ["skip a block", "/api/chains/2/skip", { ...REASON, block: "12" }],
    ["read blocks again", "/api/chains/2/reread", { ...REASON, from: "12", to: "14" }],
    ["expect a change", "/api/changes/1/expect", REASON],
    ["decide about a deposit", "/api/screenings/x", { ...REASON, verdict: "allow" }],
  ])("only an operator with a fresh passkey may %s [T283]", async (_, url, body) => {
    const { join, age, db } = await openTroubled();
    const viewer = await join("Vi", "viewer");
    expect((await viewer.post(url, body)).statusCode).toBe(403);
    const operator = await join("Op", "operator");
    await age(6);
    expect((await operator.post(url, body)).json().error.details).toEqual({ reason: "passkey" });
    const lines = await db.selectFrom("operator_log").select("action").execute();
    const manual = lines.filter(({ action }) => !/^(invite|sign|register)/.test(action));
    expect(manual).toEqual([]);
  });

  test("is mended by actions that go on record with person and reason [T285]", async () => {
    const { join, file, db } = await openTroubled();
    const operator = await join("Op", "operator");
    const [breach] = await listBreaches(db);
    const [change] = (await file(operator)).changes;
    const acts: readonly (readonly [string, object])[] = [
      [`/api/breaches/${breach?.id}/end`, REASON],
      ["/api/chains/2/cancel-nonce", { ...REASON, lane: LANE, nonce: 7 }],
      ["/api/chains/2/fill-nonce", { ...REASON, lane: LANE, nonce: 8 }],
      ["/api/chains/2/drain", REASON],
      ["/api/chains/2/resume", REASON],
      ["/api/chains/2/skip", { ...REASON, block: "12" }],
      ["/api/chains/2/reread", { ...REASON, from: "12", to: "14" }],
      [`/api/changes/${change?.id}/expect`, REASON],
    ];
    for (const [url, body] of acts) {
      expect([url, (await operator.post(url, body)).statusCode]).toEqual([url, 200]);
    }
    expect(await file(operator)).toMatchObject({
      state: "open",
      breaches: [],
      transactions: [
        { nonce: 7, state: "assigned, cancelled", isCancellable: false },
        { nonce: 8 },
      ],
      changes: [],
    });
    const { lines } = await operator.get<ConsoleLog>("/api/log");
    const manual = lines.filter(({ reason }) => reason === REASON.reason);
    expect(manual.map(({ action, operator: person }) => [action, person])).toEqual([
      ["expect in_force", "console: Op"],
      ["scanner reread", "console: Op"],
      ["scanner skip", "console: Op"],
      ["chain resume", "console: Op"],
      ["chain drain", "console: Op"],
      ["nonce fill", "console: Op"],
      ["nonce cancel", "console: Op"],
      [expect.stringMatching(/^end breach V/), "console: Op"],
    ]);
  });

  test.each([
    ["/api/chains/2/skip", { ...REASON, block: "-1" }, "block"],
    ["/api/chains/2/reread", { ...REASON, from: "14", to: "12" }, "to"],
    ["/api/chains/2/cancel-nonce", { ...REASON, lane: "lane", nonce: 7 }, "lane"],
    ["/api/chains/2/drain", { reason: "  " }, "reason"],
    ["/api/screenings/x", { ...REASON, verdict: "maybe" }, "verdict"],
  ])("refuses %s with %o and names %s", async (url, body, field) => {
    const { join } = await openTroubled();
    const operator = await join("Op", "operator");
    const refused = await operator.post(url, body);
    expect([refused.statusCode, refused.json().error.details]).toEqual([400, { field }]);
  });
});

test.each([
  "/api/integrators/x",
  "/api/integrators/tenant/endpoints/x",
  "/api/settlements/x",
  "/api/chains/4",
])("GET %s answers that there is none", async (url) => {
  const { join, db } = await openConsole();
  await sql`update integrators set name = 'tenant'`.execute(db);
  const viewer = await join("Vi", "viewer");
  expect((await viewer.send("GET", url)).statusCode).toBe(404);
});

describe("readings", () => {
  test("are read again after a failure, and cached otherwise", async () => {
    const { db, desk } = await openConsole();
    let reads = 0;
    const node = createStrictChain({
      chainId: 2,
      getHead: async () => {
        reads += 1;
        if (reads === 1) throw new Error("a bug of a reader");
        return blockAt(7n);
      },
    });
    const read = createReadings({
      chains: [],
      display: String,
      config: { chains: [], routes: [] },
      nodes: new Map([[2, node]]),
      db,
      clock: desk.deps.clock,
      log: silentLog,
    });
    await expect(read()).rejects.toThrow("a bug of a reader");
    expect(await read()).toMatchObject({ chains: [{ head: 7, problem: null }] });
    await read();
    expect(reads).toBe(2);
  });

  test("show head, the coin of a lane and the days for which it lasts", async () => {
    const { desk, join, db } = await openTroubled();
    desk.state.laneBalance = 1_000n;
    // Two transactions that cost 100 each in a day.
    const dayAgo = formatStamp(Date.now() - 86_400_000);
    for (const nonce of [5, 6]) {
      await sql`insert into transactions (id, chain_id, lane, intent, to_address, data, value, gas, nonce, state, gas_cost,
          created_at, succeeded, mined_hash, mined_block_hash, mined_block_number)
        values (gen_random_uuid(), 2, ${LANE}, ${`sweep:${nonce}`}, ${FACTORY}, '0x', 0, 21000, ${nonce}, 'final', 100,
          ${dayAgo}, true, ${`0x${"0".repeat(63)}${nonce}`}, ${`0x${"ab".repeat(32)}`}, 5)`.execute(
        db,
      );
    }
    const viewer = await join("Vi", "viewer");
    expect(await viewer.get<ConsoleReadings>("/api/readings")).toMatchObject({
      chains: [{ head: 100, problem: null }],
      lanes: [{ purpose: "settle", runwayDays: 5 }],
      inventories: [],
    });
  });
});

describe("trends", () => {
  test("draw how long settlements took, by span and by route", async () => {
    const { db, join, fail } = await openConsole();
    const { id } = await fail();
    const viewer = await join("Vi", "viewer");
    const read = (range: string) => viewer.get<ConsoleTrends>(`/api/trends?range=${range}`);
    expect((await read("1h")).p50S.every((one) => one === null)).toBe(true);
    const at = Date.now();
    await sql`update settlements set status = 'completed', error_code = null, error_message = null, error_retryable = null,
        error_details = null, route = 'SWIFT', swept_amount = 1000, delivered_amount = 1000,
        created_at = ${formatStamp(at - 30_000)}, updated_at = ${formatStamp(at)} where id = ${id}`.execute(
      db,
    );
    const trends = await read("24h");
    expect(trends).toMatchObject({ spanS: 1_800, routes: [{ name: "SWIFT" }] });
    expect([trends.p50S.at(-1), trends.p95S.at(-1)]).toEqual([30, 30]);
    expect(trends.p50S.slice(0, -1).every((one) => one === null)).toBe(true);
    expect(trends.routes[0]?.counts.at(-1)).toBe(1);
    const newest = (trends.at.at(-1) ?? 0) * 1_000;
    expect(newest <= at && at < newest + trends.spanS * 1_000).toBe(true);
    expect((await viewer.send("GET", "/api/trends?range=1y")).statusCode).toBe(400);
  });
});
