import type { FastifyInstance } from "fastify";
import type { Metrics } from "../telemetry/metrics.ts";
import { type OnRefused, REFUSALS, refusalOf } from "./refusals.ts";

/** Returns the counter of a listener's refusals, each reason from zero. */
export function createRefusals(metrics: Metrics, service: "api" | "quote" | "stream"): OnRefused {
  for (const reason of REFUSALS) metrics.refusals.inc({ service, reason }, 0);
  return (reason) => metrics.refusals.inc({ service, reason });
}

/**
 * Counts the answers of an instance by route template, never by path, query or key: unknown paths share one label, so that
 * callers cannot create labels. Counts refusals too.
 */
export function countRequests(
  app: FastifyInstance,
  metrics: Metrics,
  { service, onRefused }: { readonly service: "api" | "quote"; readonly onRefused: OnRefused },
): void {
  app.addHook("onError", async (_request, _reply, error) => {
    const reason = refusalOf(error);
    if (reason !== null) onRefused(reason);
  });
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
