/** The console over its own routes, a real database, and an authenticator in software. */
import type { ConsoleFile, ConsoleList, ConsoleLog, ConsoleLogProof } from "@sluice/sdk/wire";
import { sql } from "kysely";
import { describe, expect, test } from "vitest";
import { toBase58 } from "../core/base58.ts";
import { openConsole, ORIGIN } from "../../test/support/console-desk.ts";
import { createPasskey } from "../../test/support/passkey.ts";
import { RECIPIENT, USDC } from "../../test/support/settlement-desk.ts";
import { disableOperator } from "../operators/index.ts";
import { startPause } from "../settlements/index.ts";
import { invitationUrl } from "./index.ts";

const REASON = { reason: "ticket 7" };

describe("signing in", () => {
  test("an invitation works once, lets its operator look, and act only with a passkey [T281]", async () => {
    const { invite, browse, fail } = await openConsole();
    const { id } = await fail();
    const { token } = await invite("Ada", "operator");
    expect(invitationUrl(ORIGIN, token)).toBe(`${ORIGIN}/#invitation=${token}`);
    const browser = browse();
    expect((await browser.send("GET", "/api/overview")).statusCode).toBe(401);
    const accepted = await browser.accept(token);
    expect([accepted.headers["set-cookie"]].flat()[0]).toMatch(
      /^__Host-sluice-console=[\w-]{32}; Path=\/; HttpOnly; SameSite=Strict; Secure$/,
    );
    expect((await browse().accept(token)).statusCode).toBe(401);
    expect(await browser.get("/api/session")).toMatchObject({
      operator: { name: "Ada", role: "operator" },
      passkeys: 0,
      isVerified: false,
    });
    expect((await browser.send("GET", "/api/overview")).statusCode).toBe(200);
    const refused = await browser.post(`/api/settlements/${id}/retry`, REASON);
    expect([refused.statusCode, refused.json().error.details]).toEqual([
      403,
      { reason: "passkey" },
    ]);

    expect((await browser.register()).statusCode).toBe(200);
    expect((await browser.post(`/api/settlements/${id}/retry`, REASON)).json()).toMatchObject({
      kind: "rescheduled",
      changed: true,
    });
    browser.forget();
    expect((await browser.signIn()).statusCode).toBe(200);
    expect(await browser.get("/api/session")).toMatchObject({ passkeys: 1, isVerified: true });
  });

  test.each([
    ["of another origin", { origin: "https://console.example.evil" }],
    ["without verifying the person", { isVerified: false }],
  ])("refuses a passkey's answer %s", async (_, given) => {
    const { join } = await openConsole();
    const browser = await join("Ada", "viewer");
    browser.forget();
    const answer = await browser.signIn(given);
    expect([answer.statusCode, answer.json().error.message]).toEqual([
      401,
      "The passkey's answer is not right.",
    ]);
  });

  test("takes an answer once, for its own purpose and session [T282]", async () => {
    const { join, browse } = await openConsole();
    const browser = await join("Ada", "operator");
    const options = (await browser.post("/api/session/passkey/options")).json();
    const answer = browser.passkey.sign(options);
    // It confirms nothing in a session, and signs in once.
    expect((await browser.post("/api/session/confirm", { answer })).statusCode).toBe(401);
    expect((await browse().post("/api/session/passkey", { answer })).statusCode).toBe(200);
    const again = await browse().post("/api/session/passkey", { answer });
    expect(again.statusCode).toBe(401);

    const other = await join("Eve", "operator");
    const asked = (await other.post("/api/session/confirm/options")).json();
    const wrong = browser.passkey.sign(asked);
    expect((await browser.post("/api/session/confirm", { answer: wrong })).statusCode).toBe(401);
    expect((await other.post("/api/session/confirm", { answer: wrong })).statusCode).toBe(401);
    const forged = browser.passkey.sign({ challenge: Buffer.alloc(56).toString("base64url") });
    expect((await browse().post("/api/session/passkey", { answer: forged })).statusCode).toBe(401);
  });

  test("a further passkey needs a fresh one, or an invitation", async () => {
    const { join, age, invite, browse } = await openConsole();
    const browser = await join("Ada", "operator");
    await age(6);
    const stranger = createPasskey(ORIGIN);
    const options = (await browser.post("/api/passkeys/options")).json();
    const added = await browser.post("/api/passkeys", { answer: stranger.register(options) });
    expect([added.statusCode, added.json().error.details]).toEqual([403, { reason: "passkey" }]);

    const { token, role } = await invite("Ada");
    expect(role).toBe("operator");
    const replaced = browse();
    await replaced.accept(token);
    expect((await replaced.register()).statusCode).toBe(200);
    expect(await replaced.get("/api/session")).toMatchObject({ passkeys: 2 });
  });

  test("ended sessions and disabled operators are refused [T283]", async () => {
    const { db, join, browse, invite } = await openConsole();
    const ada = await join("Ada", "operator");
    const eve = await join("Eve", "operator");
    const { token } = await invite("Eve");
    await ada.post("/api/session/end");
    expect((await ada.send("GET", "/api/overview")).statusCode).toBe(401);
    await disableOperator(db, { name: "Eve", by: "ada@desk", reason: "left" });
    expect((await eve.send("GET", "/api/overview")).statusCode).toBe(401);
    eve.forget();
    expect((await eve.signIn()).statusCode).toBe(401);
    expect((await browse().accept(token)).statusCode).toBe(401);
  });
});

describe("who may do what", () => {
  test.each([
    ["another host", { host: "localhost:3404" }],
    ["another origin", { origin: "https://evil.example" }],
    ["no origin", { origin: "" }],
  ])("refuses a change from %s, with a good cookie [T284]", async (_, headers) => {
    const { join, fail } = await openConsole();
    const { id } = await fail();
    const browser = await join("Ada", "admin");
    const answer = await browser.send("POST", `/api/settlements/${id}/retry`, REASON, headers);
    expect(answer.statusCode).toBe(403);
  });

  test("every route that changes something needs its role and its passkey", async () => {
    const { join, fail, age } = await openConsole();
    const { id } = await fail();
    const acts = [
      ["/api/retries", REASON, "operator"],
      ["/api/pauses", { chainId: 2, ...REASON }, "operator"],
      ["/api/pauses/end", { chainId: 2, ...REASON }, "operator"],
      [`/api/settlements/${id}/refund`, { to: RECIPIENT, ...REASON }, "operator"],
      ["/api/operators", { name: "Eve", role: "viewer" }, "admin"],
      ["/api/operators/disable", { name: "Eve", ...REASON }, "admin"],
    ] as const;
    const viewer = await join("Vera", "viewer");
    const operator = await join("Otto", "operator");
    const admin = await join("Ada", "admin");
    expect((await viewer.post(`/api/settlements/${id}/retry`, REASON)).statusCode).toBe(403);
    for (const [url, payload, role] of acts) {
      expect((await viewer.post(url, payload)).json().error.details).toEqual({ reason: "role" });
      const { error } = (await operator.post(url, payload)).json();
      expect(error?.details?.reason === "role").toBe(role === "admin");
    }
    expect(
      (await admin.post("/api/operators", { name: "Eve", role: "viewer" })).json(),
    ).toMatchObject({
      operator: { name: "Eve" },
      url: expect.stringMatching(/#invitation=[\w-]{32}$/),
    });
    // An open page that somebody else finds.
    await age(6);
    for (const [url, payload] of acts) {
      expect((await admin.post(url, payload)).json().error.details).toEqual({ reason: "passkey" });
    }
    expect((await admin.confirm()).statusCode).toBe(200);
    expect((await admin.post("/api/operators/disable", { name: "Eve", ...REASON })).json()).toEqual(
      {
        changed: true,
      },
    );
    expect(
      (await admin.post("/api/operators/disable", { name: "Ada", ...REASON })).statusCode,
    ).toBe(400);
  });
});

describe("what it shows", () => {
  test("lists the settlements of every integrator, by filters, and one with its timeline", async () => {
    const { join, fail, db } = await openConsole();
    const { id, wallet } = await fail();
    const browser = await join("Vera", "viewer");
    const list = (query: string) => browser.get<ConsoleList>(`/api/settlements?${query}`);
    expect((await list("")).items).toMatchObject([
      { id, status: "failed_swap", integrator: "acme", chain: "ethereum", retryCount: 1 },
    ]);
    const counts: Record<string, number> = {};
    const found = ["status=failing", "status=open", "integrator=acme", `wallet=${wallet}`];
    const [{ amount: units = "", txHash = "" } = {}] = (
      await sql<{ amount: string; txHash: string }>`
        select trim_scale(amount / 1e6)::text as amount, tx_hash as "txHash" from deposits`.execute(
        db,
      )
    ).rows;
    found.push(
      `amount=${units}`,
      `amount=${units}%20usdc`,
      `amount=${units}00`,
      `txHash=${txHash}`,
    );
    const others = ["status=dead", "chainId=30", `wallet=${RECIPIENT}`];
    others.push(`amount=9${units}`, `amount=${units}%20WETH`, `amount=${units}0000000000000000001`);
    others.push(`txHash=0x${"1".repeat(64)}`, `txHash=${toBase58(`0x${"07".repeat(64)}`)}`);
    for (const query of [...found, ...others]) counts[query] = (await list(query)).items.length;
    expect(counts).toEqual({
      ...Object.fromEntries(found.map((query) => [query, 1])),
      ...Object.fromEntries(others.map((query) => [query, 0])),
    });
    const file = await browser.get<ConsoleFile>(`/api/settlements/${id}`);
    expect(file).toMatchObject({
      status: "failed_swap",
      waitsFor: expect.stringMatching(/^SIMULATION_REVERTED/),
      actions: [
        { action: "retry", obstacle: null },
        { action: "refund", obstacle: null },
      ],
    });
    expect(file.timeline.map(({ kind }) => kind)).toContain("deposit");
    expect(file.timeline.at(-1)).toMatchObject({ kind: "status", isProblem: true });
    expect(file.timeline.map(({ at }) => at)).toEqual(file.timeline.map(({ at }) => at).toSorted());
    expect((await browser.send("GET", "/api/settlements/none")).statusCode).toBe(404);
    const wrong = await browser.send("GET", "/api/settlements?wallet=0x1");
    expect(wrong.json().error.message).toBe("wallet: expected an address.");
    const noAmount = await browser.send("GET", "/api/settlements?amount=1e3");
    expect(noAmount.json().error.message).toMatch(/^amount: expected a number such as 25\.5/);
  });

  test("many are retried by a filter, after a look at how many; dead ones only by name", async () => {
    const { join, fail } = await openConsole();
    await fail();
    const browser = await join("Otto", "operator");
    const preview = (query: string) => browser.get(`/api/retries?${query}`);
    expect(await preview("")).toEqual({ count: 1, isMore: false });
    expect(await preview("status=failed_swap&integrator=acme&chainId=2")).toMatchObject({
      count: 1,
    });
    for (const query of ["status=dead", "chainId=30", "errorCode=INTERNAL"]) {
      expect([query, await preview(query)]).toEqual([query, { count: 0, isMore: false }]);
    }
    const wrong = await browser.send("GET", "/api/retries?status=completed");
    expect(wrong.json().error.message).toContain("status: expected one of");
    const retries = { retried: 1, refused: [] };
    expect((await browser.post("/api/retries", REASON)).json()).toEqual(retries);
    expect((await browser.post("/api/retries", REASON)).json()).toEqual({ ...retries, retried: 0 });
  });

  test("a refund ends the settlement, to its refund authority and nobody else", async () => {
    const { join, fail } = await openConsole();
    const { id } = await fail();
    const browser = await join("Otto", "operator");
    const refund = (to: string) => browser.post(`/api/settlements/${id}/refund`, { to, ...REASON });
    expect((await refund(USDC)).json().error.message).toContain("nobody else can get a refund");
    expect((await refund(RECIPIENT)).json().text).toContain("is dead and will not be swept");
    const file = await browser.get<ConsoleFile>(`/api/settlements/${id}`);
    expect(file.timeline.findLast(({ kind }) => kind === "operator")?.text).toBe(
      "console: Otto: refund, ticket 7",
    );
  });
});

describe("the log of what people did by hand", () => {
  test("has every action, of the command line and the console, and shows any change [T285]", async () => {
    const { desk, db, join, fail } = await openConsole();
    const { id } = await fail();
    await startPause(
      desk.deps,
      { scope: "chain", chainId: 30 },
      { operator: "ada@desk", reason: "drill" },
    );
    const browser = await join("Otto", "operator");
    await browser.post(`/api/settlements/${id}/retry`, REASON);
    const prove = () => browser.get<ConsoleLogProof>("/api/log/proof");
    const { lines } = await browser.get<ConsoleLog>("/api/log");
    expect(lines.toReversed().map(({ operator, action }) => `${operator} ${action}`)).toEqual([
      "ada@desk pause chain",
      "ada@desk invite operator",
      "console: Otto sign in",
      "console: Otto register passkey",
      "console: Otto settlement retry",
    ]);
    expect(lines[0]).toMatchObject({ reason: "ticket 7", settlementId: id });
    expect(await prove()).toEqual({ lines: 5, head: lines[0]?.hash, brokenAt: null });

    await expect(sql`delete from operator_log`.execute(db)).rejects.toThrow("only added to");
    // Somebody who owns the database.
    await sql`alter table operator_log disable trigger operator_log_kept`.execute(db);
    await sql`update operator_log set entry = entry || '{"reason":"other"}' where seq = 3`.execute(
      db,
    );
    expect(await prove()).toMatchObject({ lines: 2, brokenAt: 3 });
    await sql`delete from operator_log where seq = 3`.execute(db);
    expect(await prove()).toMatchObject({ brokenAt: 3 });
  });

  test("lines that are written at once follow each other", async () => {
    const { db, invite, join } = await openConsole();
    await Promise.all(Array.from({ length: 8 }, (_, index) => invite(`Person ${index}`, "viewer")));
    const browser = await join("Vera", "viewer");
    expect(await browser.get<ConsoleLogProof>("/api/log/proof")).toMatchObject({
      lines: 11,
      brokenAt: null,
    });
    expect(await db.selectFrom("operators").select("id").execute()).toHaveLength(9);
  });
});
