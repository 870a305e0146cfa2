/** The API: REST and the live stream on one port, the quote service on another. */
import { isDeepStrictEqual } from "node:util";
import {
  type ApiDeps,
  bothConventions,
  createFront,
  isHandshake,
  type PayPageDeps,
  readPageFiles,
  BOUNDS_INTERVAL_MS,
  countRequests,
  createRefusals,
  capConnections,
  type ConnectionCaps,
  CAPACITY_POLL_MS,
  createAtOnce,
  createCapacity,
  createKeyMemory,
  createKeyUses,
  deleteExpiredKeys,
  type KeyUses,
  logExceeded,
  refuseExceeded,
  SERVER_LIMITS,
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
import type { Wakeups } from "../jobs/wakeups.ts";
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

/** A server whose answers follow another configuration from now on, without closing a connection. */
export interface ReplaceableServer<Context> extends RunningServer {
  replace(context: Context): Promise<void>;
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
  "format",
  "nodeMeter",
] as const;

/** What the API answers with: its parts, and the functions that settle, refund and quote. */
export interface ApiContext {
  readonly parts: Parts<(typeof API_PARTS)[number]>;
  readonly calls: Pick<ApiDeps, "requestIndex" | "refunds"> &
    Pick<PayPageDeps, "tokens" | "listPayable" | "quotePayment">;
}

/** Starts REST and stream. The wake-ups are those of the process: they outlast the parts that may be replaced. */
export async function startApi(
  first: ApiContext,
  wakeups: Wakeups,
): Promise<ReplaceableServer<ApiContext>> {
  const context = first.parts;
  const { config, db, log, clock, health } = context;
  const pepper = config.apiKeyPepper;
  // One limiter for REST and stream, so that an address has one budget for both.
  const { limiter, useLimitsOf } = createReplaceableLimiter(context);
  const { capacity, loop: capacityLoop } = startCapacity(context, "api");
  const keys = createKeyMemory({ clock, pepper });
  const uses = createKeyUses({ db, clock });
  const service = "api";
  const onRefused = createRefusals(health.metrics, service);
  const createApp = ({ parts, calls: { requestIndex, refunds, ...payments } }: ApiContext) => {
    const now = parts.config;
    const app = createApi({
      db,
      pepper,
      log,
      clock,
      random: parts.random,
      format: parts.format,
      requestIndex,
      refunds,
      scanned: now.chains,
      webhooks: {
        rules: createAddressRules(now.webhooks.allowedRanges),
        endpointsMax: now.webhooks.endpointsPerIntegrator,
        wakeWebhooks: () => wakeups.wake(TOPICS.webhooks),
      },
      pay: {
        ...payments,
        explorers: new Map(now.chains.map((chain) => [chain.chainId, chain.explorerTxUrl])),
        files: readPageFiles(),
        frameAncestors: now.payPage.frameAncestors,
        baseUrl: () => describeService(now, { api: url }).serviceUrl,
      },
      securityContact: now.deployment?.securityContact,
      limiter,
      nodeMeter: parts.nodeMeter,
      keys,
      uses,
      atOnce: createAtOnce(now.requestsAtOnce, clock),
      capacity,
      trustedProxies: now.trustedProxies,
      corsOrigins: now.corsOrigins,
      describeService: () => describeService(now, { api: url }),
    });
    countRequests(app, health.metrics, { service, onRefused });
    return app;
  };
  const front = await createFront(createApp(first), {
    body: (error) => ({ error }),
    shouldUpgradeCallback: isHandshake,
  });
  const { server } = front.listener;
  capConnections(server, { ...config, caps: connectionCapsOf(config), log, onRefused });
  const stream = createStream({
    server,
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
  const url = await listen(front.listener, config.api, "api.port");
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
    poll: () => front.app().payStreams.pump(),
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
      front.app().payStreams.prefer(integratorId);
    }
    loop.wake();
    payLoop.wake();
  });
  return {
    url,
    async replace(next) {
      useLimitsOf(next.parts);
      await front.replace(createApp(next));
    },
    async stop() {
      const loops = [loop, rightsLoop, boundsLoop, limitsLoop, idempotencyLoop, usesLoop];
      loops.push(payLoop, payLinksLoop, capacityLoop);
      await Promise.all(loops.map((running) => running.stop()));
      await stream.close();
      await front.close();
      await flushLast(uses, log);
    },
  };
}

/** Starts the quote service, on its own port: it may be reachable from places where the API is not. */
export async function startQuoteServer(
  context: QuoterParts,
): Promise<ReplaceableServer<QuoterParts>> {
  const { config, db, log, clock } = context;
  const { limiter, useLimitsOf } = createReplaceableLimiter(context);
  const { capacity, loop: capacityLoop } = startCapacity(context, "quoter");
  const uses = createKeyUses({ db, clock });
  const keys = createKeyMemory({ clock, pepper: config.apiKeyPepper });
  const service = "quote";
  const onRefused = createRefusals(context.health.metrics, service);
  const createApp = (parts: QuoterParts) => {
    const now = parts.config;
    const quoter = createQuoter(parts, async (keyId, count) => {
      const counted = await limiter.take("newAddressesPerKey", keyId, count);
      logExceeded(log, counted, { keyId });
      refuseExceeded(counted);
    });
    const app = createQuoteApp({
      uses,
      db,
      pepper: now.apiKeyPepper,
      log,
      clock,
      random: parts.random,
      ...quoter,
      limiter,
      nodeMeter: parts.nodeMeter,
      keys,
      atOnce: createAtOnce(now.requestsAtOnce, clock),
      capacity,
      trustedProxies: now.trustedProxies,
      corsOrigins: now.corsOrigins,
      describeService: () => describeService(now, { quote: url }),
    });
    countRequests(app, context.health.metrics, { service, onRefused });
    return app;
  };
  const front = await createFront(createApp(context), {
    body: bothConventions,
    shouldUpgradeCallback: SERVER_LIMITS.http.shouldUpgradeCallback,
  });
  const { server } = front.listener;
  capConnections(server, { ...config, caps: connectionCapsOf(config), log, onRefused });
  const url = await listen(front.listener, config.quote, "quote.port");
  const usesLoop = startUsesLoop(context, "quoter", uses);
  return {
    url,
    async replace(next) {
      useLimitsOf(next);
      await front.replace(createApp(next));
    },
    async stop() {
      await Promise.all([usesLoop.stop(), capacityLoop.stop()]);
      await front.close();
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

/** Starts the limit on requests of all keys, which follows how busy this process's event loop is. */
function startCapacity(context: Parts<"config" | "clock" | "log" | "health">, role: string) {
  const { clock } = context;
  const capacity = createCapacity(clock);
  let before = performance.eventLoopUtilization();
  const loop = startRoleLoop(context, role, {
    name: `capacity of the ${role}`,
    intervalMs: CAPACITY_POLL_MS,
    async poll() {
      const now = performance.eventLoopUtilization();
      capacity.adjust(performance.eventLoopUtilization(now, before).utilization);
      before = now;
      return false;
    },
  });
  return { capacity, loop };
}

/** Creates a limiter whose limits can be replaced. While they stay the same, so do the counts. */
function createReplaceableLimiter(first: Parts<"config" | "db" | "clock">) {
  let { rateLimits } = first.config;
  let current = createLimiter(first);
  const limiter: RateLimiter = {
    take: (...args) => current.take(...args),
    peek: (...args) => current.peek(...args),
  };
  const useLimitsOf = (next: typeof first) => {
    if (isDeepStrictEqual(next.config.rateLimits, rateLimits)) return;
    rateLimits = next.config.rateLimits;
    current = createLimiter(next);
  };
  return { limiter, useLimitsOf };
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
