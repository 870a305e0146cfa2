/** The API: REST and the live stream on one port, the quote service on another. */
import {
  type ApiDeps,
  type PayPageDeps,
  readPageFiles,
  BOUNDS_INTERVAL_MS,
  countRequests,
  createRefusals,
  capConnections,
  type ConnectionCaps,
  createAtOnce,
  createKeyMemory,
  createKeyUses,
  deleteExpiredKeys,
  type KeyUses,
  logExceeded,
  refuseExceeded,
  createApi,
  createQuoteApp,
  createRateLimiter,
  createSharedLimiter,
  deleteEndedWindows,
  type RateLimiter,
  createStream,
  listen,
} from "../api/index.ts";
import type { ServedBy } from "@sluice/sdk/reference";
import { deleteOldPayLinks } from "../pay/index.ts";
import { deleteOldKeyUsage } from "../integrators/index.ts";
import { createAddressRules } from "../webhooks/index.ts";
import type { Log } from "../telemetry/log.ts";
import { type Parts, type RunningRole, TOPICS } from "./context.ts";
import { createQuoter, type QuoterParts } from "./quoter.ts";
import { readVersion } from "./version.ts";
import { readDescriptorsMax } from "./system-ports.ts";
import { startRoleLoop } from "./health.ts";

/** A role that listens on a port. */
export interface RunningServer extends RunningRole {
  /** Base URL with the actual port. */
  readonly url: string;
}

/** Interval at which the stream polls for events without a wake-up, in milliseconds. */
const TAIL_POLL_MS = 1_000;
/** Interval at which pay pages that are open are read, if they are due, in milliseconds. */
const PAY_POLL_MS = 500;
/** Interval at which ended windows of shared rate limits are deleted, in milliseconds. */
const LIMITS_POLL_MS = 60_000;
/** Interval at which the use of keys is added to the database, in milliseconds. */
const USES_POLL_MS = 60_000;
/** Interval of the poll for keys that may no longer use the stream, whose sockets it closes, in milliseconds. */
const RIGHTS_POLL_MS = 500;

/** Parts of the API. It has no chain readers: settling and refunding by request, which read balances, are passed in as functions. */
export const API_PARTS = [
  "config",
  "db",
  "streamDb",
  "clock",
  "random",
  "log",
  "health",
  "wakeups",
  "format",
  "nodeMeter",
] as const;

/** Starts REST and stream. */
export async function startApi(
  context: Parts<(typeof API_PARTS)[number]>,
  {
    requestIndex,
    refunds,
    ...payments
  }: Pick<ApiDeps, "requestIndex" | "refunds"> &
    Pick<PayPageDeps, "tokens" | "listPayable" | "quotePayment">,
): Promise<RunningServer> {
  const { config, db, log, clock, wakeups, format, health } = context;
  const pepper = config.apiKeyPepper;
  // One limiter for REST and stream, so that an address has one budget for both.
  const limiter = createLimiter(context);
  const keys = createKeyMemory({ clock, pepper });
  const uses = createKeyUses({ db, clock });
  const app = createApi({
    db,
    pepper,
    log,
    clock,
    random: context.random,
    format,
    requestIndex,
    refunds,
    scanned: config.chains,
    webhooks: {
      rules: createAddressRules(config.webhooks.allowedRanges),
      endpointsMax: config.webhooks.endpointsPerIntegrator,
      wakeWebhooks: () => wakeups.wake(TOPICS.webhooks),
    },
    pay: {
      ...payments,
      explorers: new Map(config.chains.map((chain) => [chain.chainId, chain.explorerTxUrl])),
      files: readPageFiles(),
      frameAncestors: config.payPage.frameAncestors,
      baseUrl: () => describeService(config, { api: url }).serviceUrl,
    },
    securityContact: config.deployment?.securityContact,
    limiter,
    nodeMeter: context.nodeMeter,
    keys,
    uses,
    atOnce: createAtOnce(config.requestsAtOnce, clock),
    trustedProxies: config.trustedProxies,
    corsOrigins: config.corsOrigins,
    describeService: () => describeService(config, { api: url }),
  });
  const service = "api";
  const onRefused = createRefusals(health.metrics, service);
  capConnections(app.server, { ...config, caps: connectionCapsOf(config), log, onRefused });
  countRequests(app, health.metrics, { service, onRefused });
  const stream = createStream({
    server: app.server,
    db,
    streamDb: context.streamDb,
    pepper,
    log,
    limiter,
    keys,
    uses,
    trustedProxies: config.trustedProxies,
    socketCaps: config.socketCaps,
    onRefused: createRefusals(health.metrics, "stream"),
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
  const rightsLoop = startRoleLoop(context, "api", {
    name: "rights of keys",
    intervalMs: RIGHTS_POLL_MS,
    // The command line writes only the database; this closes the sockets that a key opened in this process.
    async poll() {
      await stream.cutRefused();
      return false;
    },
  });
  const boundsLoop = startRoleLoop(context, "api", {
    name: "bounds of connections",
    intervalMs: BOUNDS_INTERVAL_MS,
    async poll() {
      stream.restartBounds();
      return false;
    },
  });
  const payLoop = startRoleLoop(context, "api", {
    name: "pay pages",
    intervalMs: PAY_POLL_MS,
    poll: () => app.payStreams.pump(),
  });
  const payLinksLoop = startRoleLoop(context, "api", {
    name: "old pay links",
    intervalMs: LIMITS_POLL_MS,
    poll: () => deleteOldPayLinks(db),
  });
  const limitsLoop = startRoleLoop(context, "api", {
    name: "ended rate limits",
    intervalMs: LIMITS_POLL_MS,
    async poll() {
      if (config.shareRateLimits) await deleteEndedWindows(db);
      return false;
    },
  });
  const idempotencyLoop = startRoleLoop(context, "api", {
    name: "expired idempotency keys",
    intervalMs: LIMITS_POLL_MS,
    poll: () => deleteExpiredKeys(db),
  });
  const usesLoop = startUsesLoop(context, "api", uses);
  wakeups.on(TOPICS.events, (integratorId) => {
    if (integratorId !== undefined) {
      stream.tail.prefer(integratorId);
      app.payStreams.prefer(integratorId);
    }
    loop.wake();
    payLoop.wake();
  });
  return {
    url,
    async stop() {
      const loops = [loop, rightsLoop, boundsLoop, limitsLoop, idempotencyLoop, usesLoop];
      loops.push(payLoop, payLinksLoop);
      await Promise.all(loops.map((running) => running.stop()));
      await stream.close();
      await app.close();
      await flushLast(uses, log);
    },
  };
}

/** Starts the quote service, on its own port: it may be reachable from places where the API is not. */
export async function startQuoteServer(context: QuoterParts): Promise<RunningServer> {
  const { config, db, log, clock } = context;
  const limiter = createLimiter(context);
  const quoter = createQuoter(context, async (keyId, count) => {
    const counted = await limiter.take("newAddressesPerKey", keyId, count);
    logExceeded(log, counted, { keyId });
    refuseExceeded(counted);
  });
  const uses = createKeyUses({ db, clock });
  const app = createQuoteApp({
    uses,
    db,
    pepper: config.apiKeyPepper,
    log,
    clock,
    random: context.random,
    ...quoter,
    limiter,
    nodeMeter: context.nodeMeter,
    keys: createKeyMemory({ clock, pepper: config.apiKeyPepper }),
    atOnce: createAtOnce(config.requestsAtOnce, clock),
    trustedProxies: config.trustedProxies,
    corsOrigins: config.corsOrigins,
    describeService: () => describeService(config, { quote: url }),
  });
  const service = "quote";
  const onRefused = createRefusals(context.health.metrics, service);
  capConnections(app.server, { ...config, caps: connectionCapsOf(config), log, onRefused });
  countRequests(app, context.health.metrics, { service, onRefused });
  const url = await listen(app, config.quote, "quote.port");
  const usesLoop = startUsesLoop(context, "quoter", uses);
  return {
    url,
    async stop() {
      await usesLoop.stop();
      await app.close();
      await flushLast(uses, log);
    },
  };
}

/** Returns where the interface is served: publicly, where the server of this process listens, or where the other one does. */
function describeService(
  { publicUrls, api, quote }: Pick<Parts<"config">["config"], "publicUrls" | "api" | "quote">,
  own: { readonly api?: string; readonly quote?: string },
): ServedBy {
  return {
    version: readVersion(),
    serviceUrl: publicUrls.api ?? own.api ?? urlOf(api),
    quoteUrl: publicUrls.quote ?? own.quote ?? urlOf(quote),
  };
}

/** Adds the last counts of a server that stops. Without the database they are lost, and the server stops all the same. */
async function flushLast(uses: KeyUses, log: Log): Promise<void> {
  try {
    await uses.flush();
  } catch (error) {
    log.warn({ err: error }, "use of keys not recorded");
  }
}

/** Adds the use of keys to the database at intervals. */
function startUsesLoop(
  context: Parameters<typeof startRoleLoop>[0] & Parts<"db">,
  role: "api" | "quoter",
  uses: KeyUses,
) {
  return startRoleLoop(context, role, {
    name: "use of keys",
    intervalMs: USES_POLL_MS,
    async poll() {
      await uses.flush();
      if (role === "api") await deleteOldKeyUsage(context.db);
      return false;
    },
  });
}

/** Creates the limiter of a listener, over the connections of its role where processes count together. */
function createLimiter({ config, db, clock }: Parts<"config" | "db" | "clock">): RateLimiter {
  const { rateLimits, shareRateLimits } = config;
  return shareRateLimits
    ? createSharedLimiter(rateLimits, { db, clock })
    : createRateLimiter(rateLimits);
}

/** Descriptors that are kept for the database, nodes and files. */
const DESCRIPTORS_KEPT = 200;

/** Returns the caps of a server: together below what the system lets the process open. */
function connectionCapsOf({ socketCaps }: Parts<"config">["config"]): ConnectionCaps {
  const total = Math.max(DESCRIPTORS_KEPT, readDescriptorsMax() - DESCRIPTORS_KEPT);
  return { perAddress: Math.min(socketCaps.connectionsPerAddress, total), total };
}

function urlOf({ host, port }: { readonly host: string; readonly port: number }): string {
  return `http://${host.includes(":") ? `[${host}]` : host}:${port}`;
}
