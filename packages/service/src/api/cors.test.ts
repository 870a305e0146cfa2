import { expect, test } from "vitest";
import { createTestApi } from "../../test/support/api.ts";
import type { Db } from "../db/schema.ts";

const PAGE = "https://pay.example";

/** The API without a database, which these requests do not need. */
function createServer(corsOrigins: readonly string[]) {
  // CAST: an empty stub; using it throws.
  return createTestApi({ db: {} as Db, corsOrigins });
}

const preflight = (app: ReturnType<typeof createServer>, origin: string) =>
  app.inject({
    method: "OPTIONS",
    url: "/swaps",
    headers: { origin, "access-control-request-method": "GET" },
  });

test("allows no origin and sends no CORS header when none is configured [T104]", async () => {
  const app = createServer([]);
  expect((await preflight(app, PAGE)).statusCode).not.toBe(204);
  const answer = await app.inject({ url: "/chains", headers: { origin: PAGE } });
  expect(answer.statusCode).toBe(200);
  expect(Object.keys(answer.headers).filter((name) => name.startsWith("access-"))).toEqual([]);
});

test("answers the preflight of a configured origin without a key", async () => {
  const answer = await preflight(createServer([PAGE]), PAGE);
  expect(answer.statusCode).toBe(204);
  expect(answer.headers).toMatchObject({
    "access-control-allow-origin": PAGE,
    "access-control-allow-methods": "GET, POST, DELETE",
    "access-control-allow-headers": "content-type, x-api-key, idempotency-key",
  });
});

test("lets a configured origin read refusals and rate limit headers", async () => {
  const answer = await createServer([PAGE]).inject({ url: "/swaps", headers: { origin: PAGE } });
  expect(answer.statusCode).toBe(401);
  expect(answer.headers).toMatchObject({
    "access-control-allow-origin": PAGE,
    "access-control-expose-headers":
      "RateLimit, RateLimit-Policy, Retry-After, X-Request-Id, Idempotent-Replayed",
    vary: "Origin",
  });
});

test.each(["https://pay.example.evil", "http://pay.example", "null", "https://PAY.example"])(
  "does not allow %s [T104]",
  async (origin) => {
    const app = createServer([PAGE]);
    const refused = await preflight(app, origin);
    expect(refused.statusCode).not.toBe(204);
    const answer = await app.inject({ url: "/chains", headers: { origin } });
    expect(answer.headers["access-control-allow-origin"]).toBeUndefined();
    // A cache must not serve this answer to an allowed origin.
    expect(answer.headers.vary).toBe("Origin");
  },
);
