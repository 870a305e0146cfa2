/** Outbound calls to servers of others, which may misbehave. */
import { gzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import {
  breaksOff,
  dripping,
  endless,
  says,
  silent,
  startPriceServer,
} from "../../test/support/price-server.ts";
import { Secret } from "../core/secret.ts";
import { systemHttp } from "./system-ports.ts";

const get = (
  url: string,
  given: { readonly timeoutMs?: number; readonly bytesMax?: number } = {},
) => systemHttp({ url, headers: new Map(), timeoutMs: 5_000, bytesMax: 1_000, ...given });

describe("outbound calls", () => {
  test("return status and body, and send secrets in headers", async () => {
    const server = await startPriceServer(says('{"a":"ä"}', 201));
    const headers = new Map([["x-key", new Secret("canary")]]);
    const request = { url: `${server.url}/a?b=1`, headers, timeoutMs: 5_000, bytesMax: 1_000 };
    expect(await systemHttp(request)).toEqual({
      kind: "answered",
      status: 201,
      body: '{"a":"ä"}',
    });
    expect(server.asked).toMatchObject([
      { path: "/a?b=1", headers: { "x-key": "canary", accept: "application/json" } },
    ]);
  });

  test("do not follow redirects [T103]", async () => {
    const elsewhere = await startPriceServer(says("{}"));
    const server = await startPriceServer(says("", 302, { location: elsewhere.url }));
    expect(await get(server.url)).toEqual({ kind: "answered", status: 302, body: "" });
    expect(elsewhere.asked).toEqual([]);
  });

  test("accept a body up to the limit and not a byte more, also when compressed", async () => {
    const server = await startPriceServer(says("x".repeat(1_000)));
    expect(await get(server.url)).toMatchObject({ body: "x".repeat(1_000) });
    server.behave(says("x".repeat(1_001)));
    const tooLarge = { kind: "failed", reason: "too_large" };
    expect(await get(server.url)).toEqual(tooLarge);
    server.behave(endless);
    expect(await get(server.url, { bytesMax: 1_000_000 })).toEqual(tooLarge);
    const bomb = gzipSync(Buffer.alloc(10_000_000));
    expect(bomb.length).toBeLessThan(10_000);
    server.behave((response) => response.writeHead(200, { "content-encoding": "gzip" }).end(bomb));
    expect(await get(server.url, { bytesMax: 20_000 })).toEqual(tooLarge);
  });

  test.each([
    ["never answers", silent],
    ["answers one byte at a time without end", dripping],
  ])("time out when a server %s", async (_, behaviour) => {
    const server = await startPriceServer(behaviour);
    expect(await get(server.url, { timeoutMs: 200 })).toEqual({
      kind: "failed",
      reason: "timed_out",
    });
  });

  test("fail when no server answers, or when the response breaks off", async () => {
    const unreachable = { kind: "failed", reason: "unreachable" };
    const server = await startPriceServer(breaksOff);
    expect(await get(server.url)).toEqual(unreachable);
    server.behave((response) => response.destroy());
    expect(await get(server.url)).toEqual(unreachable);
    expect(await get("http://127.0.0.1:1/")).toEqual(unreachable);
  });
});
