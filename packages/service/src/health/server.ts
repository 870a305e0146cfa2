/**
 * Serves metrics and health over HTTP on a separate listener, for monitoring only. It needs no API key, contains no
 * customer data and never shares the API's port.
 */
import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import { isIP } from "node:net";
import type { Log } from "../telemetry/log.ts";
import { renderMetrics, type ReportDeps, reportReadiness } from "./report.ts";

const REQUEST_TIMEOUT_MS = 10_000;

/** A running listener. */
export interface HealthServer {
  /** Base URL, with the port that was taken. */
  readonly url: string;
  stop(): Promise<void>;
}

/** Starts listening. Rejects with the system's error when the address cannot be used. */
export async function startHealthServer(
  deps: ReportDeps,
  options: {
    readonly host: string;
    readonly port: number;
    /** Names with dots by which the listener may be asked. */
    readonly hosts: readonly string[];
    readonly log: Log;
  },
): Promise<HealthServer> {
  const { host, port, log } = options;
  const isKnown = createHostCheck([host, ...options.hosts]);
  const server = createServer(
    { requestTimeout: REQUEST_TIMEOUT_MS, headersTimeout: REQUEST_TIMEOUT_MS },
    (request, response) => {
      // A page of a stranger whose name resolves to this machine reads with the stranger's name (DNS rebinding).
      if (!isKnown(request.headers.host)) {
        response.writeHead(403, { "content-type": "application/json; charset=utf-8" });
        response.end(`${JSON.stringify({ ok: false, reason: "unknown host" })}\n`);
        return;
      }
      answer(deps, request.method === "GET" ? request.url : undefined, response).catch(
        (error: unknown) => {
          log.error({ err: error }, "metrics or health could not be answered");
          if (!response.headersSent) response.writeHead(500);
          response.end();
        },
      );
    },
  );
  server.listen({ host, port });
  await once(server, "listening");
  const address = server.address();
  const taken = typeof address === "object" && address !== null ? address.port : port;
  return {
    url: `http://${host.includes(":") ? `[${host}]` : host}:${taken}`,
    async stop() {
      const closed = once(server, "close");
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

/**
 * Returns whether a `Host` header names this listener: an address, a name without dots, which no public name is, or a name
 * of the configuration.
 */
function createHostCheck(names: readonly string[]): (host: string | undefined) => boolean {
  const known = new Set(names.map((name) => name.toLowerCase()));
  return (host) => {
    const name = /^(\[[0-9a-f:.]+\]|[a-z0-9._-]+)(?::\d{1,5})?$/i
      .exec(host ?? "")?.[1]
      ?.toLowerCase();
    if (name === undefined) return false;
    return name.startsWith("[") || isIP(name) !== 0 || !name.includes(".") || known.has(name);
  };
}

async function answer(
  deps: ReportDeps,
  url: string | undefined,
  response: ServerResponse,
): Promise<void> {
  const json = (status: number, body: object) => {
    response.writeHead(status, { "content-type": "application/json; charset=utf-8" });
    response.end(`${JSON.stringify(body)}\n`);
  };
  switch (url?.split("?")[0]) {
    case "/metrics": {
      const text = await renderMetrics(deps);
      response.writeHead(200, { "content-type": deps.metrics.registry.contentType });
      response.end(text);
      return;
    }
    case "/health/live":
      return json(200, { ok: true });
    case "/health/ready": {
      const readiness = await reportReadiness(deps);
      return json(readiness.ok ? 200 : 503, readiness);
    }
    default:
      return json(404, { ok: false });
  }
}
