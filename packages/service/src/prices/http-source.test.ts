/** Prices from untrusted JSON are exact or unavailable [T56]. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createStillClock } from "../../test/support/doubles.ts";
import type { HttpPriceConfig } from "../config/index.ts";
import type { HttpAnswer, HttpRequest } from "../core/ports.ts";
import { Secret } from "../core/secret.ts";
import { createHttpSources } from "./http-source.ts";

const NOW = Date.parse("2026-01-01T00:00:00.000Z");
const SOURCE: HttpPriceConfig = {
  url: "https://prices.example/eth",
  headers: new Map(),
  pointer: ["usd"],
  timestampPointer: undefined,
  scale: 0,
  maxAgeMs: 60_000,
};
const USD = 10n ** 18n;
const ok = (body: string): HttpAnswer => ({ kind: "answered", status: 200, body });

/** Opens sources over a server with a settable answer and delay. */
function open(first: HttpAnswer = ok("{}")) {
  const clock = createStillClock(NOW);
  const state = { answer: first, wait: Promise.resolve() };
  const asked: HttpRequest[] = [];
  const read = createHttpSources({
    clock,
    http: async (request) => {
      asked.push(request);
      await state.wait;
      return state.answer;
    },
  });
  return { clock, state, asked, read };
}

const readOf = (body: string, source: Partial<HttpPriceConfig> = {}) =>
  open(ok(body)).read({ ...SOURCE, ...source });
const usdOf = async (number: string, scale = 0) => {
  const answer = await readOf(`{"usd":${number}}`, { scale });
  return "usd" in answer ? answer.usd : answer.fault;
};

describe("the price of an answer", () => {
  test.each([
    ["1", USD],
    ['"1"', USD],
    ["3456.78", 3_456_780_000_000_000_000_000n],
    // Not representable in floating point.
    ["0.100000000000000001", 100_000_000_000_000_001n],
    ["9007199254740993.000000000000000001", 9_007_199_254_740_993_000_000_000_000_000_001n],
    ['"1234.567890123456789012345"', 1_234_567_890_123_456_789_012n],
    ["1.2e-5", 12_000_000_000_000n],
    ["1.5E+3", 1_500n * USD],
    ["0", 0n],
    ["-1", -USD],
    ["-0.5", -USD / 2n],
    ["1e-19", 0n],
    ["1e999", 10n ** 1017n],
  ] as const)("%s is parsed exactly", async (number, usd) => {
    expect(await usdOf(number)).toBe(usd);
  });

  test("applies the configured scale", async () => {
    expect(await usdOf("345678000000", 8)).toBe(3_456_780_000_000_000_000_000n);
    expect(await usdOf("1", 30)).toBe(0n);
  });

  test("is parsed exactly for every number", async () => {
    const digits = fc.bigInt({ min: 0n, max: 10n ** 36n });
    await fc.assert(
      fc.asyncProperty(digits, async (usd) => {
        const text = usd.toString().padStart(19, "0");
        const number = `${BigInt(text.slice(0, -18))}.${text.slice(-18)}`;
        expect(await usdOf(number)).toBe(usd);
        expect(await usdOf(`"${number}"`)).toBe(usd);
      }),
    );
  });

  test.each([
    "null",
    "true",
    "{}",
    "[]",
    "[1]",
    '""',
    '"NaN"',
    '"Infinity"',
    '"0x10"',
    '"1,5"',
    '" 1"',
    '"1e9999"',
    '"1e99999999999999999999"',
    `"${"9".repeat(61)}"`,
    '"１"',
    '"1_000"',
    // Not JSON.
    "NaN",
    "Infinity",
    "01",
    ".5",
    "1e",
    "+1",
  ])("%s is a bad answer", async (number) => {
    expect(await usdOf(number)).toBe("bad_answer");
  });

  test.each([
    ["", "not JSON"],
    ["<!doctype html><title>Attention Required!</title>", "not JSON"],
    ['{"usd":1', "not JSON"],
    ["[".repeat(60_000), "not JSON"],
    [`${"[".repeat(30_000)}${"]".repeat(30_000)}`, undefined],
    ['{"eur":1}', "no number at the pointer"],
    ["1", "no number at the pointer"],
    ["null", "no number at the pointer"],
    ['"usd"', "no number at the pointer"],
  ])("is a bad answer for malformed or other JSON (%#)", async (body, detail) => {
    const answer = await readOf(body);
    expect(answer).toMatchObject({ fault: "bad_answer", ...(detail && { detail }) });
  });

  test("is read at the pointer, ignoring inherited properties", async () => {
    const body = '{"a/b":{"m~n":[[],["7"]]},"__proto__":{"x":"1"}}';
    const at = async (...pointer: string[]) => {
      const answer = await readOf(body, { pointer });
      return "usd" in answer ? answer.usd : answer.fault;
    };
    expect(await at("a/b", "m~n", "1", "0")).toBe(7n * USD);
    expect(await at("__proto__", "x")).toBe(USD);
    for (const names of [
      ["constructor", "length"],
      ["a/b", "m~n", "length"],
      ["x"],
      ["toString"],
    ]) {
      expect(await at(...names)).toBe("bad_answer");
    }
  });

  test.each<[string, HttpAnswer]>([
    ["status 500", { kind: "answered", status: 500, body: '{"usd":1}' }],
    ["status 429", { kind: "answered", status: 429, body: '{"usd":1}' }],
    ["status 302", { kind: "answered", status: 302, body: '{"usd":1}' }],
    ["status 203", { kind: "answered", status: 203, body: '{"usd":1}' }],
    ["timed_out", { kind: "failed", reason: "timed_out" }],
    ["too_large", { kind: "failed", reason: "too_large" }],
    ["unreachable", { kind: "failed", reason: "unreachable" }],
  ])("is unavailable after %s", async (detail, answer) => {
    expect(await open(answer).read(SOURCE)).toEqual({ fault: "no_answer", detail });
  });
});

describe("the timestamp of a price", () => {
  const timeOf = async (time: string) => {
    const answer = await readOf(`{"usd":1,"at":${time}}`, { timestampPointer: ["at"] });
    return "usd" in answer ? answer.published?.atMs : answer;
  };
  test.each([
    ["1767225600", NOW],
    ["1767225600000", NOW],
    ['"1767225600"', NOW],
    ["1767225600.25", NOW + 250],
    ['"2026-01-01T00:00:00Z"', NOW],
    ['"2026-01-01T01:00:00.250+01:00"', NOW + 250],
    ["0", 0],
  ])("accepts %s", async (time, atMs) => {
    expect(await timeOf(time)).toBe(atMs);
  });

  test.each([
    "null",
    "-1",
    "1e12",
    '"now"',
    '"2026-01-01T00:00:00"',
    '"2026-13-01T00:00:00Z"',
    "{}",
  ])("rejects %s as a bad answer", async (time) => {
    const detail = "no time at the timestampPointer";
    expect(await timeOf(time)).toEqual({ fault: "bad_answer", detail });
  });

  test("is the time of the request when the answer has none", async () => {
    const { read, clock } = open(ok('{"usd":1}'));
    await read(SOURCE);
    clock.advance(9_999);
    expect(await read(SOURCE)).toEqual({ usd: USD, published: { atMs: NOW, maxAgeMs: 60_000 } });
  });
});

describe("the APIs of docs/configuration.md", () => {
  const page = readFileSync(join(import.meta.dirname, "../../../../docs/configuration.md"), "utf8");
  const namesOf = (pointer: string | undefined) => pointer?.split("/").slice(1);
  /** Recorded answers of each API. */
  test.each([
    [
      "Coinbase",
      '{"data":{"amount":"3456.785","base":"ETH","currency":"USD"}}',
      { usd: 3_456_785_000_000_000_000_000n, published: { atMs: NOW, maxAgeMs: 60_000 } },
    ],
    [
      "Kraken",
      '{"error":[],"result":{"XETHZUSD":{"a":["3456.79000","1","1.000"],"b":["3456.78000","1","1.000"],"c":["3456.78000","0.01"],"o":"3400.00000"}}}',
      { usd: 3_456_780_000_000_000_000_000n, published: { atMs: NOW, maxAgeMs: 60_000 } },
    ],
    [
      "Kraken",
      '{"error":["EGeneral:Too many requests"]}',
      { fault: "bad_answer", detail: "no number at the pointer" },
    ],
    [
      "CoinGecko",
      '{"ethereum":{"usd":3456.7812345678901,"last_updated_at":1767225540}}',
      {
        usd: 3_456_781_234_567_890_100_000n,
        published: { atMs: NOW - 60_000, maxAgeMs: 60_000 },
      },
    ],
  ])("%s answers are read with the documented settings", async (name, body, answer) => {
    const item = page.split(/\n(?=- |\n)/).find((part) => part.startsWith(`- ${name}: `)) ?? "";
    const settings = new Map(
      [...item.matchAll(/`(\w+)`\s+`([^`]+)`/g)].map(([, setting, value]) => [setting, value]),
    );
    const [url, pointer, timestampPointer] = ["url", "pointer", "timestampPointer"].map((setting) =>
      settings.get(setting),
    );
    expect(url).toMatch(/^https:/);
    const given = { pointer: namesOf(pointer) ?? [], timestampPointer: namesOf(timestampPointer) };
    expect(await readOf(body, given)).toEqual(answer);
  });
});

describe("an HTTP source", () => {
  test("shares one request among callers and repeats it after ten seconds", async () => {
    const { read, clock, asked, state } = open(ok('{"usd":1,"other":"2"}'));
    const gate = Promise.withResolvers<void>();
    state.wait = gate.promise;
    const reads = Array.from({ length: 100 }, (_, index) =>
      read({ ...SOURCE, pointer: [index % 2 === 0 ? "usd" : "other"] }),
    );
    gate.resolve();
    const answers = await Promise.all(reads);
    expect(answers[0]).toMatchObject({ usd: USD });
    expect(answers[1]).toMatchObject({ usd: 2n * USD });
    clock.advance(9_999);
    await read(SOURCE);
    expect(asked).toHaveLength(1);
    clock.advance(1);
    state.answer = ok('{"usd":3}');
    expect(await read(SOURCE)).toMatchObject({ usd: 3n * USD });
    expect(asked).toHaveLength(2);
  });

  test("caches a failure for ten seconds and drops the earlier price", async () => {
    const { read, clock, asked, state } = open(ok('{"usd":1}'));
    await read(SOURCE);
    clock.advance(10_000);
    state.answer = { kind: "failed", reason: "timed_out" };
    expect(await read(SOURCE)).toMatchObject({ fault: "no_answer" });
    state.answer = ok('{"usd":2}');
    clock.advance(9_999);
    expect(await read(SOURCE)).toMatchObject({ fault: "no_answer" });
    expect(asked).toHaveLength(2);
    clock.advance(1);
    expect(await read(SOURCE)).toMatchObject({ usd: 2n * USD });
  });

  test("repeats the request after the clock was set back", async () => {
    const { read, clock, asked } = open(ok('{"usd":1}'));
    await read(SOURCE);
    clock.advance(-3_600_000);
    expect(await read(SOURCE)).toMatchObject({ published: { atMs: NOW - 3_600_000 } });
    expect(asked).toHaveLength(2);
  });

  test("sends the source's headers with a timeout and a size limit", async () => {
    const { read, asked } = open();
    const headers = new Map([["x-key", new Secret("canary")]]);
    await read({ ...SOURCE, headers });
    expect(asked).toEqual([{ url: SOURCE.url, headers, timeoutMs: 3_000, bytesMax: 65_536 }]);
    await read({ ...SOURCE, url: "https://other.example" });
    expect(asked).toHaveLength(2);
  });
});
