import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createStillClock, silentLog } from "../../../test/support/doubles.ts";
import { toHex32, toTxHash } from "../../core/hex.ts";
import type { Http } from "../../core/ports.ts";
import { systemHttp } from "../../roles/system-ports.ts";
import { type BridgeAttestations, createBridgeAttestations } from "./bridge-attestations.ts";

const TX = toTxHash(`0x${"ab".repeat(32)}`);
const NONCE = toHex32(`0x${"cd".repeat(32)}`);

type Answer = (request: IncomingMessage, response: ServerResponse) => void;

let server: ReturnType<typeof createServer>;
let asked: string[];
let answer: Answer;
let url: string;
let clock: ReturnType<typeof createStillClock>;
let client: BridgeAttestations;
/** Requests left without an answer, in order. */
let failed: string[];
const onFailure = (failure: string) => void failed.push(failure);

const json =
  (value: unknown, status = 200, headers: Record<string, string> = {}): Answer =>
  (_, response) =>
    response
      .writeHead(status, { "content-type": "application/json", ...headers })
      .end(typeof value === "string" ? value : JSON.stringify(value));

beforeEach(async () => {
  asked = [];
  failed = [];
  answer = () => {
    throw new Error("the test did not expect a request");
  };
  server = createServer((request, response) => {
    asked.push(`${request.method} ${request.url}`);
    answer(request, response);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  if (typeof address !== "object" || address === null) throw new Error("a server has a port");
  url = `http://127.0.0.1:${address.port}`;
  clock = createStillClock();
  client = createBridgeAttestations({
    apiUrl: `${url}/`,
    http: systemHttp,
    clock,
    log: silentLog,
    onFailure,
  });
});

afterEach(async () => {
  server.closeAllConnections();
  server.close();
  await once(server, "close");
});

const complete = {
  message: "0xAA01",
  eventNonce: NONCE,
  attestation: "0xbb02",
  cctpVersion: 2,
  status: "complete",
  delayReason: null,
  decodedMessage: { sourceDomain: "0" },
};
const pending = {
  message: "0x",
  attestation: "PENDING",
  cctpVersion: 2,
  status: "pending_confirmations",
};
const attested = { message: "0xAA01", attestation: "0xbb02" };

describe("messages", () => {
  test("requests the messages of one transaction of one domain", async () => {
    answer = json({ messages: [complete] });
    expect(await client.getMessages(6, TX)).toEqual([{ attested, delayReason: null }]);
    expect(asked).toEqual([`GET /v2/messages/6?transactionHash=${TX}`]);
  });

  test("returns the service's reason for a message that is not attested", async () => {
    answer = json({
      messages: [
        pending,
        { ...pending, attestation: null, delayReason: "insufficient_fee" },
        { ...pending, delayReason: "a reason of next year" },
      ],
    });
    expect(await client.getMessages(0, TX)).toEqual([
      { attested: null, delayReason: null },
      { attested: null, delayReason: "insufficient_fee" },
      { attested: null, delayReason: null },
    ]);
  });

  test("returns no messages for a transaction that the service does not know yet", async () => {
    answer = json({ error: "not found" }, 404);
    expect(await client.getMessages(0, TX)).toEqual([]);
  });

  test("omits messages of CCTP version 1", async () => {
    answer = json({ messages: [{ ...complete, cctpVersion: 1 }] });
    expect(await client.getMessages(0, TX)).toEqual([]);
  });

  test.each([
    ["a body that is not JSON", "<html>"],
    ["another shape", { messages: "none" }],
    [
      "a complete message without an attestation",
      { messages: [{ ...complete, attestation: "PENDING" }] },
    ],
    ["a complete status without a message", { messages: [{ ...complete, message: null }] }],
    ["bytes that are not hex", { messages: [{ ...complete, message: "0xzz" }] }],
  ])("rejects an answer with %s", async (_, body) => {
    answer = json(body);
    await expect(client.getMessages(0, TX)).rejects.toMatchObject({
      code: "RPC_UNAVAILABLE",
      details: { provider: "cctp", reason: "malformed answer" },
    });
  });
});

describe("fees, allowance and reattestation", () => {
  test("returns fees exactly, including fractions of a basis point", async () => {
    answer = json([
      { finalityThreshold: 1000, minimumFee: 1.3 },
      { finalityThreshold: 2000, minimumFee: 0 },
    ]);
    expect(await client.getFees(0, 6)).toEqual({ fast: 1_300_000n, standard: 0n });
    expect(asked).toEqual(["GET /v2/burn/USDC/fees/0/6"]);
  });

  test("returns no fee for a finality threshold that is not offered", async () => {
    answer = json([{ finalityThreshold: 2000, minimumFee: 0 }]);
    expect(await client.getFees(1, 6)).toEqual({ fast: null, standard: 0n });
  });

  test.each([-1, 10_001, "1"])("rejects a minimum fee of %j", async (minimumFee) => {
    answer = json([{ finalityThreshold: 1000, minimumFee }]);
    await expect(client.getFees(0, 6)).rejects.toMatchObject({ code: "RPC_UNAVAILABLE" });
  });

  test("returns the allowance in base units", async () => {
    answer = json({ allowance: 123_999.999999, lastUpdated: "2026-01-01T00:00:00Z" });
    expect(await client.getFastAllowance()).toBe(123_999_999_999n);
    expect(asked).toEqual(["GET /v2/fastBurn/USDC/allowance"]);
  });

  test("requests reattestation of a message by its nonce", async () => {
    answer = json({ message: "Re-attestation successfully requested for nonce.", nonce: NONCE });
    await client.reattest(NONCE);
    expect(asked).toEqual([`POST /v2/reattest/${NONCE}`]);
  });

  test("fails to reattest a message that the service does not know", async () => {
    answer = json({}, 404);
    await expect(client.reattest(NONCE)).rejects.toMatchObject({ details: { reason: "http 404" } });
  });
});

describe("failures", () => {
  test("does not follow a redirect [T103]", async () => {
    answer = json("", 302, { location: `${url}/elsewhere` });
    await expect(client.getMessages(0, TX)).rejects.toMatchObject({
      details: { reason: "http 302" },
    });
    expect(asked).toHaveLength(1);
  });

  test("stops reading a body that does not end", async () => {
    answer = (_, response) => {
      const chunk = Buffer.alloc(1024 * 1024, " ");
      const write = () => {
        if (!response.destroyed) response.write(chunk, write);
      };
      write();
    };
    await expect(client.getMessages(0, TX)).rejects.toMatchObject({
      details: { reason: "too_large" },
    });
  });

  test("stops waiting for an answer at the timeout", async () => {
    answer = () => undefined;
    const impatient: Http = (request) => systemHttp({ ...request, timeoutMs: 50 });
    const waiting = createBridgeAttestations({
      apiUrl: url,
      http: impatient,
      clock,
      log: silentLog,
      onFailure,
    });
    await expect(waiting.getMessages(0, TX)).rejects.toMatchObject({
      details: { reason: "timed_out" },
    });
  });

  test("omits the URL from errors, because it may contain a key", async () => {
    const gone = createBridgeAttestations({
      apiUrl: "http://secret@127.0.0.1:1/",
      http: systemHttp,
      clock,
      log: silentLog,
      onFailure,
    });
    const error: unknown = await gone.getFastAllowance().catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ details: { reason: "unreachable" } });
    expect(JSON.stringify(error, Object.getOwnPropertyNames(error))).not.toContain("secret");
  });

  test("pauses all requests for five minutes after a 429 without Retry-After", async () => {
    answer = json({}, 429);
    await expect(client.getMessages(0, TX)).rejects.toMatchObject({
      details: { reason: "rate limited" },
    });
    answer = json({ messages: [] });
    clock.advance(299_999);
    await expect(client.getFastAllowance()).rejects.toMatchObject({
      details: { reason: "rate limited" },
    });
    expect(asked).toHaveLength(1);
    expect(failed).toEqual(["rate_limited"]);
    clock.advance(1);
    expect(await client.getMessages(0, TX)).toEqual([]);
  });

  test("pauses all requests for the Retry-After time of a 429", async () => {
    answer = json({}, 429, { "retry-after": "7" });
    await expect(client.getMessages(0, TX)).rejects.toMatchObject({ code: "RPC_UNAVAILABLE" });
    answer = json({ messages: [] });
    clock.advance(6_999);
    await expect(client.getMessages(0, TX)).rejects.toMatchObject({ code: "RPC_UNAVAILABLE" });
    clock.advance(1);
    expect(await client.getMessages(0, TX)).toEqual([]);
    expect(asked).toHaveLength(2);
  });

  test("pauses for 30 seconds after five failures in a row, then sends one request", async () => {
    answer = json({}, 503);
    for (let count = 0; count < 5; count++) {
      clock.advance(1_000);
      await expect(client.getMessages(0, TX)).rejects.toMatchObject({
        details: { reason: "http 503" },
      });
    }
    await expect(client.getMessages(0, TX)).rejects.toMatchObject({
      details: { reason: "paused after: http 503" },
    });
    expect(asked).toHaveLength(5);
    clock.advance(30_000);
    await expect(client.getMessages(0, TX)).rejects.toMatchObject({
      details: { reason: "http 503" },
    });
    await expect(client.getMessages(0, TX)).rejects.toMatchObject({
      details: { reason: "paused after: http 503" },
    });
    expect(asked).toHaveLength(6);
    expect(failed).toEqual(Array.from({ length: 6 }, () => "no_answer"));
    clock.advance(30_000);
    answer = json({ messages: [] });
    expect(await client.getMessages(0, TX)).toEqual([]);
    expect(await client.getMessages(0, TX)).toEqual([]);
  });

  test("resets the failure count after an answer or a refusal of one request", async () => {
    for (let round = 0; round < 4; round++) {
      for (let count = 0; count < 4; count++) {
        clock.advance(1_000);
        answer = json({}, 500);
        await expect(client.getMessages(0, TX)).rejects.toMatchObject({
          details: { reason: "http 500" },
        });
      }
      answer = round % 2 === 0 ? json({ messages: [] }) : json({}, 400);
      await client.getMessages(0, TX).catch(() => undefined);
    }
    expect(asked).toHaveLength(20);
    // A refusal of one request counts as an answer.
    expect(failed).toHaveLength(16);
  });
});

test("sends ten requests per second and refuses those that would wait longer than 20 seconds", async () => {
  const started = clock.now();
  const times: number[] = [];
  const patient = {
    ...clock,
    now: () => clock.now(),
    sleep: async (ms: number) => {
      times.push(clock.now() + ms - started);
    },
  };
  answer = json({ messages: [] });
  const eager = createBridgeAttestations({
    apiUrl: url,
    http: systemHttp,
    clock: patient,
    log: silentLog,
    onFailure,
  });
  const outcomes = await Promise.allSettled(
    Array.from({ length: 210 }, () => eager.getMessages(0, TX)),
  );
  expect(outcomes.filter(({ status }) => status === "fulfilled")).toHaveLength(201);
  expect(times).toEqual(Array.from({ length: 200 }, (_, index) => (index + 1) * 100));
  expect(asked).toHaveLength(201);
});
