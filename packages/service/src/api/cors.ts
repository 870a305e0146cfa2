/**
 * Cross-origin access (https://fetch.spec.whatwg.org/#http-cors-protocol) for configured origins; none by default. Keys are
 * in a header or the query, never in a cookie, so a page gains nothing that it does not have already.
 */
import type { FastifyInstance } from "fastify";

/** Response headers that a page may read besides the default ones. */
const EXPOSED = "RateLimit, RateLimit-Policy, Retry-After, X-Request-Id, Idempotent-Replayed";
const PREFLIGHT_AGE_S = 600;

/** Adds CORS headers for the listed origins. Runs before anything that can refuse, so that a page can read a refusal. */
export function allowOrigins(app: FastifyInstance, origins: readonly string[]): void {
  if (origins.length === 0) return;
  app.addHook("onRequest", async (request, reply) => {
    reply.header("vary", "Origin");
    const { origin } = request.headers;
    if (origin === undefined || !origins.includes(origin)) return undefined;
    reply.header("access-control-allow-origin", origin);
    reply.header("access-control-expose-headers", EXPOSED);
    const isPreflight =
      request.method === "OPTIONS" &&
      request.headers["access-control-request-method"] !== undefined;
    if (!isPreflight) return undefined;
    return reply
      .code(204)
      .header("access-control-allow-methods", "GET, POST, DELETE")
      .header("access-control-allow-headers", "content-type, x-api-key, idempotency-key")
      .header("access-control-max-age", String(PREFLIGHT_AGE_S))
      .send();
  });
}
