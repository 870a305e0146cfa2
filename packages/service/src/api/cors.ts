/**
 * Which pages of other origins may call (https://fetch.spec.whatwg.org/#http-cors-protocol): those of the
 * configuration, and none by default. Keys come in a header or the query, never in a cookie, so nothing is ever sent
 * that a page does not have already.
 */
import type { FastifyInstance } from "fastify";

/** Headers of answers that a page may read beside the plain ones. */
const EXPOSED = "RateLimit, RateLimit-Policy, Retry-After";
const PREFLIGHT_AGE_S = 600;

/** Answers for the origins of the list. Goes before everything that can refuse: a page may read a refusal too. */
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
      .header("access-control-allow-methods", "GET, POST")
      .header("access-control-allow-headers", "content-type, x-api-key")
      .header("access-control-max-age", String(PREFLIGHT_AGE_S))
      .send();
  });
}
