/** Screening before a sweep, against real PostgreSQL and a real HTTP server. */
import { createServer, type IncomingMessage, type Server } from "node:http";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { hashOf } from "../../../test/support/doubles.ts";
import { type Desk, openDesk, RECIPIENT, USDC } from "../../../test/support/settlement-desk.ts";
import { Secret } from "../../core/secret.ts";
import { systemHttp } from "../../roles/system-ports.ts";
import { createSettlementsPoll } from "../advance.ts";
import { refundSettlement } from "../operator/refund.ts";
import { decideScreening, listScreenings, createScreeningsPoll } from "./screen.ts";
import { createScreen, type ScreeningConfig } from "./service.ts";

interface Reply {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  /** Keeps the connection open without an answer. */
  readonly silent?: boolean;
}

let server: Server;
let url: string;
let reply: Reply;
let asked: { readonly headers: IncomingMessage["headers"]; readonly body: string }[];

beforeEach(async () => {
  asked = [];
  reply = { body: '{"verdict":"allow"}' };
  server = createServer(async (request, response) => {
    asked.push({ headers: request.headers, body: await text(request) });
    if (reply.silent) return;
    response.writeHead(reply.status ?? 200, reply.headers).end(reply.body);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  // CAST: the server listens on a TCP port.
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/screen`;
});
afterEach(() => {
  server.closeAllConnections();
  server.close();
});

async function open(config: Partial<ScreeningConfig> = {}) {
  const desk = await openDesk();
  Object.assign(desk.deps, { screens: true });
  const screen = createScreen(
    { url, token: new Secret("hush"), timeoutMs: 300, denied: [], ...config },
    { http: systemHttp, display: (address) => address },
  );
  const address = await desk.issue("0x01");
  desk.state.balance = 1_000n;
  return {
    ...desk,
    address,
    settle: () => createSettlementsPoll(desk.deps, 2)(),
    ask: () => createScreeningsPoll(desk.deps, screen, 2)(),
  };
}

const decide = (desk: Desk, depositId: string, verdict: "allow" | "refuse") =>
  decideScreening(desk.db, {
    depositId,
    verdict,
    operator: "ann@host",
    reason: "case 12",
    nowMs: desk.clock.now(),
  });

const records = ({ db }: Desk) =>
  db.selectFrom("screening_records").selectAll().orderBy("record").execute();

describe("a screened deposit", () => {
  test("is swept once the service allows it, which was told its facts [T176]", async () => {
    const desk = await open();
    await desk.arrive(desk.address, { amount: 1_000n, block: 5n });
    await desk.settle();
    expect(await desk.swaps()).toMatchObject([{ status: "pending_swap", error: null }]);
    await desk.ask();
    const [deposit] = await desk.deposits();
    expect(asked).toMatchObject([
      { headers: { authorization: "Bearer hush", "content-type": "application/json" } },
    ]);
    expect(JSON.parse(asked[0]?.body ?? "")).toEqual({
      depositId: deposit?.id,
      integratorId: desk.integratorId,
      chainId: 2,
      depositAddress: desk.address.wallet,
      token: USDC,
      amount: "1000",
      txHash: hashOf("transfer 1"),
      sender: RECIPIENT,
    });
    await desk.settle();
    expect(await desk.swaps()).toMatchObject([{ status: "swapping", error: null }]);
    expect(await records(desk)).toMatchObject([
      { deposit_id: deposit?.id, verdict: "allow", source: "service", operator: null },
    ]);
    expect(await listScreenings(desk.db, { all: false })).toEqual([]);
  });

  test.each<readonly [string, Reply]>([
    ["answers wait", { body: '{"verdict":"wait","reason":"under review"}' }],
    ["is silent", { silent: true }],
    ["fails", { status: 500, body: '{"verdict":"allow"}' }],
    ["is not found", { status: 404, body: '{"verdict":"allow"}' }],
    ["redirects", { status: 302, headers: { location: "/elsewhere" } }],
    ["answers no JSON", { body: "allow" }],
    ["answers another word", { body: '{"verdict":"ALLOW"}' }],
    ["answers a list", { body: '["allow"]' }],
    ["answers too much", { body: `{"verdict":"allow","reason":"${"x".repeat(70_000)}"}` }],
  ])("waits while the service %s, and goes on afterwards [T176]", async (_, bad) => {
    const desk = await open();
    reply = bad;
    await desk.arrive(desk.address, { amount: 1_000n, block: 5n });
    for (let nr = 0; nr < 3; nr++) {
      await desk.settle();
      await desk.ask();
      desk.clock.advance(900_000);
    }
    await desk.settle();
    // A redirect is not followed: each question is one request.
    expect(asked.length).toBe(3);
    expect(await desk.swaps()).toMatchObject([
      {
        retryCount: 0,
        error: {
          code: "CONFIG_MISSING",
          retryable: true,
          details: { reason: "screening_pending" },
        },
      },
    ]);
    const { attempts_used: used } = await desk.db
      .selectFrom("settlements")
      .select("attempts_used")
      .executeTakeFirstOrThrow();
    expect(used).toBe(0);
    expect(await listScreenings(desk.db, { all: false })).toMatchObject([{ verdict: "wait" }]);
    reply = { body: '{"verdict":"allow"}' };
    desk.clock.advance(300_000);
    await desk.ask();
    await desk.settle();
    expect(await desk.swaps()).toMatchObject([{ status: "swapping", error: null }]);
  });

  test("is held when it is refused, and can be refunded [T176]", async () => {
    const desk = await open();
    reply = { body: '{"verdict":"refuse","reason":"sanctioned"}' };
    await desk.arrive(desk.address, { amount: 1_000n, block: 5n });
    await desk.settle();
    await desk.ask();
    reply = { body: '{"verdict":"allow"}' };
    for (let nr = 0; nr < 3; nr++) {
      await desk.poll();
      await desk.ask();
    }
    const [swap] = await desk.swaps();
    expect(swap).toMatchObject({ error: { details: { reason: "screening_refused" } } });
    // The operator's reason is not for the integrator.
    expect(JSON.stringify(swap)).not.toContain("sanctioned");
    expect(asked.length).toBe(1);
    expect(await listScreenings(desk.db, { all: false })).toMatchObject([
      { verdict: "refuse", source: "service", detail: "sanctioned", sender: RECIPIENT },
    ]);
    const { id } = await desk.db.selectFrom("settlements").select("id").executeTakeFirstOrThrow();
    const refund = { id, to: RECIPIENT, operator: "ann@host", reason: "case 12" };
    await refundSettlement(desk.deps, refund);
    expect(await desk.swaps()).toMatchObject([{ status: "dead" }]);
    // Its balance stays held: another deposit opens a settlement over the whole of it.
    desk.state.balance = 2_000n;
    await desk.arrive(desk.address, { amount: 1_000n, block: 6n });
    for (let nr = 0; nr < 3; nr++) {
      await desk.poll();
      await desk.ask();
    }
    expect(await desk.swaps()).toMatchObject([
      { status: "dead" },
      { error: { details: { reason: "screening_refused" } } },
    ]);
  });

  test("waits for a later deposit that the same sweep would take [T176]", async () => {
    const desk = await open();
    await desk.arrive(desk.address, { amount: 1_000n, block: 5n });
    await desk.settle();
    await desk.ask();
    reply = { silent: true };
    await desk.arrive(desk.address, { amount: 1_000n, block: 6n });
    await desk.poll();
    await desk.ask();
    await desk.poll();
    expect(await desk.swaps()).toMatchObject([
      { error: { details: { reason: "screening_pending" } } },
    ]);
  });

  test("is decided by an operator against the service, on record [T176]", async () => {
    const desk = await open();
    reply = { body: '{"verdict":"refuse"}' };
    await desk.arrive(desk.address, { amount: 1_000n, block: 5n });
    await desk.settle();
    await desk.ask();
    await desk.settle();
    const [deposit] = await desk.deposits();
    const id = deposit?.id ?? "";
    expect(await decide(desk, id, "allow")).toBe(true);
    expect(await decide(desk, id, "allow")).toBe(false);
    await desk.settle();
    expect(await desk.swaps()).toMatchObject([{ status: "swapping", error: null }]);
    expect(await records(desk)).toMatchObject([
      { verdict: "refuse", source: "service" },
      { verdict: "allow", source: "operator", operator: "ann@host", reason: "case 12" },
    ]);
    await expect(desk.db.deleteFrom("screening_records").execute()).rejects.toThrow(/only added/);
    expect(await decide(desk, crypto.randomUUID(), "allow")).toBe(false);
  });

  test("is held by an operator before the service was asked", async () => {
    const desk = await open();
    await desk.arrive(desk.address, { amount: 1_000n, block: 5n });
    const [deposit] = await desk.deposits();
    expect(await decide(desk, deposit?.id ?? "", "refuse")).toBe(true);
    await desk.poll();
    await desk.ask();
    await desk.poll();
    expect(asked).toEqual([]);
    expect(await desk.swaps()).toMatchObject([
      { error: { details: { reason: "screening_refused" } } },
    ]);
  });

  test("of a listed sender is held without a question [T176]", async () => {
    const desk = await open({ denied: [RECIPIENT] });
    await desk.arrive(desk.address, { amount: 1_000n, block: 5n });
    await desk.settle();
    await desk.ask();
    await desk.settle();
    expect(asked).toEqual([]);
    expect(await desk.swaps()).toMatchObject([
      { error: { details: { reason: "screening_refused" } } },
    ]);
  });

  test("without a known sender waits for an operator where only a list decides", async () => {
    const desk = await open({ url: undefined, denied: [USDC] });
    await desk.arrive(desk.address, { amount: 500n, block: 5n });
    await desk.settle();
    await desk.ask();
    await desk.db.updateTable("deposits").set({ tx_hash: null, sender: null }).execute();
    await desk.db.updateTable("screenings").set({ verdict: "wait", source: null }).execute();
    desk.clock.advance(900_000);
    await desk.ask();
    expect(await listScreenings(desk.db, { all: false })).toMatchObject([
      { verdict: "wait", detail: "the chain shows no sender: an operator decides" },
    ]);
  });

  test("in flight is delivered, also when the screening refuses it", async () => {
    const desk = await open();
    await desk.arrive(desk.address, { amount: 1_000n, block: 5n });
    await desk.settle();
    await desk.ask();
    await desk.settle();
    const [deposit] = await desk.deposits();
    await decide(desk, deposit?.id ?? "", "refuse");
    await desk.mine("sweep:");
    desk.state.swept = 1_000n;
    desk.state.balance = 0n;
    desk.state.delivery = { kind: "delivered", txHash: hashOf("delivery"), amount: 1_000n };
    await desk.poll();
    await desk.poll();
    expect(await desk.swaps()).toMatchObject([{ status: "completed" }]);
  });

  test("waits no longer than a turn behind the deposits of another integrator [T176]", async () => {
    const desk = await open();
    reply = { silent: true };
    for (let nr = 0; nr < 30; nr++) {
      await desk.arrive(await desk.issue(`0x${10 + nr}`), { amount: 1_000n, block: 5n });
    }
    await desk.poll();
    await desk.poll();
    const { count } = await desk.db
      .selectFrom("screenings")
      .select((eb) => eb.fn.countAll<bigint>().as("count"))
      .executeTakeFirstOrThrow();
    expect(count).toBe(30n);
    const other = crypto.randomUUID();
    await desk.db
      .insertInto("integrators")
      .values({
        id: other,
        name: "other",
        refund_evm: RECIPIENT,
        max_fee_bps: 1,
        max_slippage_bps: 1,
      })
      .execute();
    const last = await desk.db
      .selectFrom("screenings")
      .select("id")
      .orderBy("id", "desc")
      .limit(1)
      .executeTakeFirstOrThrow();
    await desk.db
      .updateTable("screenings")
      .set({ integrator_id: other })
      .where("id", "=", last.id)
      .execute();
    await desk.ask();
    expect(asked.map(({ body }) => JSON.parse(body).depositId)).toContain(last.id);
    expect(asked.length).toBe(20);
  });
});
