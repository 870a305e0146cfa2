import { expect, test } from "vitest";
import { createTestApi } from "../../test/support/api.ts";
import type { Db } from "../db/schema.ts";

const PAGE = "https://pay.example";

/** The API; what is asked of it here needs no database. */
function createServer(corsOrigins: readonly string[]) {
  // CAST: an empty stand-in; using it throws.
  return createTestApi({ db: {} as Db, corsOrigins });
}

const preflight = (app: ReturnType<typeof createServer>, origin: string) =>
  app.inject({
    method: "OPTIONS",
    url: "/swaps",
    headers: { origin, "access-control-request-method": "GET" },
  });

test("T104 without origins no page may call, and no answer says so", async () => {
  const app = createServer([]);
  expect((await preflight(app, PAGE)).statusCode).not.toBe(204);
  const answer = await app.inject({ url: "/chains", headers: { origin: PAGE } });
  expect(answer.statusCode).toBe(200);
  expect(Object.keys(answer.headers).filter((name) => name.startsWith("access-"))).toEqual([]);
});

test("a page of the list is told what it may send, before it has a key", async () => {
  const answer = await preflight(createServer([PAGE]), PAGE);
  expect(answer.statusCode).toBe(204);
  expect(answer.headers).toMatchObject({
    "access-control-allow-origin": PAGE,
    "access-control-allow-methods": "GET, POST",
    "access-control-allow-headers": "content-type, x-api-key",
  });
});

test("it may read refusals, and the headers of the rate limit", async () => {
  const answer = await createServer([PAGE]).inject({ url: "/swaps", headers: { origin: PAGE } });
  expect(answer.statusCode).toBe(401);
  expect(answer.headers).toMatchObject({
    "access-control-allow-origin": PAGE,
    "access-control-expose-headers": "RateLimit, RateLimit-Policy, Retry-After",
    vary: "Origin",
  });
});

test.each(["https://pay.example.evil", "http://pay.example", "null", "https://PAY.example"])(
  "T104 %s is not of the list",
  async (origin) => {
    const app = createServer([PAGE]);
    const refused = await preflight(app, origin);
    expect(refused.statusCode).not.toBe(204);
    const answer = await app.inject({ url: "/chains", headers: { origin } });
    expect(answer.headers["access-control-allow-origin"]).toBeUndefined();
    // A cache must not hand this answer to the page that may read it.
    expect(answer.headers.vary).toBe("Origin");
  },
);
