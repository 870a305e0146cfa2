import type { FastifyInstance } from "fastify";
import type { Metrics } from "../telemetry/metrics.ts";

/**
 * Counts the answers of an instance by route template, never by path, query or key: unknown paths share one label, so that
 * callers cannot create labels.
 */
export function countRequests(
  app: FastifyInstance,
  metrics: Metrics,
  service: "api" | "quote",
): void {
  app.addHook("onResponse", async (request, reply) => {
    const labels = {
      service,
      method: METHODS.has(request.method) ? request.method : "other",
      route: (!request.is404 && request.routeOptions.url) || "unknown",
    };
    metrics.httpRequests.inc({ ...labels, status: reply.statusCode });
    metrics.httpSeconds.observe(labels, reply.elapsedTime / 1000);
  });
}

const METHODS: ReadonlySet<string> = new Set(["GET", "HEAD", "POST", "OPTIONS"]);
