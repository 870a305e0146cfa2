/** The API: REST and the live stream on one port, the quote service on another. */
import type { FastifyInstance } from "fastify";
import {
  type ApiDeps,
  countRequests,
  createApi,
  createQuoteApp,
  createRateLimiter,
  createStream,
} from "../api/index.ts";
import { OperatingError } from "../core/errors.ts";
import { type Parts, type RunningRole, TOPICS } from "./context.ts";
import { createQuoter, type QuoterParts } from "./quoter.ts";
import { startRoleLoop } from "./health.ts";

/** A role that listens on a port. */
export interface RunningServer extends RunningRole {
  /** Base URL with the actual port. */
  readonly url: string;
}

/** Interval at which the stream polls for events without a wake-up, in milliseconds. */
const TAIL_POLL_MS = 1_000;
/** Interval of the poll for revoked keys, whose sockets it closes, in milliseconds. */
const REVOKED_POLL_MS = 500;

/** Parts of the API. It has no chain readers: settling by request, which reads balances, is passed in as a function. */
export const API_PARTS = ["config", "db", "clock", "log", "health", "wakeups", "format"] as const;

/** Starts REST and stream. */
export async function startApi(
  context: Parts<(typeof API_PARTS)[number]>,
  requestIndex: ApiDeps["requestIndex"],
): Promise<RunningServer> {
  const { config, db, log, clock, wakeups, format, health } = context;
  const pepper = config.apiKeyPepper;
  // One limiter for REST and stream, so that an address has one budget for both.
  const limiter = createRateLimiter(config.rateLimits);
  const app = createApi({
    db,
    pepper,
    log,
    clock,
    format,
    requestIndex,
    scanned: config.chains,
    limiter,
    trustedProxies: config.trustedProxies,
    corsOrigins: config.corsOrigins,
  });
  countRequests(app, health.metrics, "api");
  const stream = createStream({
    server: app.server,
    db,
    pepper,
    log,
    limiter,
    trustedProxies: config.trustedProxies,
    socketCaps: config.socketCaps,
  });
  const url = await listen(app, config.api, "api.port");
  health.countSockets = stream.countSockets;
  const loop = startRoleLoop(context, "api", {
    name: "stream",
    intervalMs: TAIL_POLL_MS,
    async poll() {
      await stream.tail.pump();
      return false;
    },
  });
  const revokedLoop = startRoleLoop(context, "api", {
    name: "revoked keys",
    intervalMs: REVOKED_POLL_MS,
    // Revoking writes only the database; this closes the sockets that the key opened in this process.
    async poll() {
      await stream.cutRevoked();
      return false;
    },
  });
  wakeups.on(TOPICS.events, (integratorId) => {
    if (integratorId !== undefined) stream.tail.prefer(integratorId);
    loop.wake();
  });
  return {
    url,
    async stop() {
      await Promise.all([loop.stop(), revokedLoop.stop()]);
      await stream.close();
      await app.close();
    },
  };
}

/** Starts the quote service, on its own port: it may be reachable from places where the API is not. */
export async function startQuoteServer(context: QuoterParts): Promise<RunningServer> {
  const { config, db, log, clock } = context;
  const quote = createQuoter(context);
  const app = createQuoteApp({
    db,
    pepper: config.apiKeyPepper,
    log,
    clock,
    quote,
    limiter: createRateLimiter(config.rateLimits),
    trustedProxies: config.trustedProxies,
    corsOrigins: config.corsOrigins,
  });
  countRequests(app, context.health.metrics, "quote");
  const url = await listen(app, config.quote, "quote.port");
  return { url, stop: () => app.close() };
}

/** Listens and returns the base URL. Throws CONFIG_MISSING that names the setting of the port. */
async function listen(
  app: FastifyInstance,
  listener: { readonly host: string; readonly port: number },
  setting: string,
): Promise<string> {
  try {
    return await app.listen(listener);
  } catch (cause) {
    const taken = cause instanceof Error && "code" in cause && cause.code === "EADDRINUSE";
    throw new OperatingError(
      "CONFIG_MISSING",
      taken
        ? `${setting}: expected a free port, ${listener.port} is in use.`
        : `${setting}: ${listener.host}:${listener.port} is not available.`,
      { cause },
    );
  }
}
