/** The interfaces of the service, over a test's database. */
import { type ApiDeps, createApi } from "../../src/api/app.ts";
import { type AtOnce, createAtOnce } from "../../src/api/at-once.ts";
import { createCapacity } from "../../src/api/capacity.ts";
import { createKeyUses, type KeyUses } from "../../src/api/key-uses.ts";
import { createKeyMemory, type KeyMemory } from "../../src/api/key-memory.ts";
import { readPageFiles } from "../../src/api/page-files.ts";
import { createQuoteApp, type QuoteAppDeps } from "../../src/api/quote-app.ts";
import { createRateLimiter, type RateLimiter } from "../../src/api/rate-limits.ts";
import type { OnRefused } from "../../src/api/refusals.ts";
import type { SocketCaps } from "../../src/api/socket-caps.ts";
import { createStream } from "../../src/api/stream.ts";
import { addressFormat } from "../../src/roles/address-format.ts";
import { createNodeMeter } from "../../src/roles/node-meter.ts";
import { systemClock, systemRandom } from "../../src/roles/system-ports.ts";
import { createAddressRules } from "../../src/webhooks/index.ts";
import { silentLog } from "./doubles.ts";
import { PEPPER } from "./tenants.ts";

export type RunningApi = Awaited<ReturnType<typeof startApi>>;
export type RunningStream = Awaited<ReturnType<typeof startStream>>;

/** Rate limits that no test reaches. */
export function createGenerousLimiter(): RateLimiter {
  const many = 1_000_000;
  return createRateLimiter({
    perKey: many,
    perAddress: many,
    wrongKeyPerAddress: many,
    requestIndexPerKey: many,
    newAddressesPerKey: many,
    nodeRequestsPerKey: many,
  });
}

/** Places at once that no test reaches. */
export function createGenerousPlaces(): AtOnce {
  return createAtOnce({ perKey: 1_000, waitMs: 0 }, systemClock);
}

/** Remembers no key yet. */
export function createTestKeys(): KeyMemory {
  return createKeyMemory({ clock: systemClock, pepper: PEPPER });
}

/** Counts the use of keys; a test flushes it. */
export function createTestUses(db: ApiDeps["db"]): KeyUses {
  return createKeyUses({ db, clock: systemClock });
}

/** Facts of the service in its description. */
export const SERVED_BY = {
  version: "1.2.3",
  serviceUrl: "http://127.0.0.1:8080",
  quoteUrl: "http://127.0.0.1:8081",
};

type TestDeps = Pick<ApiDeps, "db"> & Partial<ApiDeps>;

/** Creates the REST interface. By default it has no scanned chain, and settling by request throws. */
export function createTestApi(deps: TestDeps) {
  return createApi({
    pepper: PEPPER,
    log: silentLog,
    clock: systemClock,
    random: systemRandom,
    format: addressFormat,
    requestIndex: () => Promise.reject(new Error("the test did not expect a request to settle")),
    refunds: {
      request: () => Promise.reject(new Error("the test did not expect a request to refund")),
      list: async () => ({ items: [], nextCursor: null }),
      find: async () => null,
    },
    scanned: [],
    pay: {
      tokens: [],
      listPayable: async () => [],
      quotePayment: async () => [],
      files: readPageFiles(),
      explorers: new Map(),
      frameAncestors: [],
      baseUrl: () => SERVED_BY.serviceUrl,
    },
    webhooks: { rules: createAddressRules([]), endpointsMax: 100, wakeWebhooks: () => {} },
    limiter: createGenerousLimiter(),
    nodeMeter: createNodeMeter(),
    atOnce: createGenerousPlaces(),
    capacity: createCapacity(systemClock),
    keys: createTestKeys(),
    uses: createTestUses(deps.db),
    trustedProxies: [],
    corsOrigins: [],
    describeService: () => SERVED_BY,
    ...deps,
  });
}

/** Starts the REST interface on a free port. */
export async function startApi(deps: TestDeps) {
  const app = createTestApi(deps);
  const url = await app.listen({ host: "127.0.0.1", port: 0 });
  return { url, close: () => app.close() };
}

/** Starts the quote service on a free port. Its quotes are empty. */
export async function startQuoteApp(deps: Pick<QuoteAppDeps, "db"> & Partial<QuoteAppDeps>) {
  const app = createQuoteApp({
    pepper: PEPPER,
    log: silentLog,
    clock: systemClock,
    random: systemRandom,
    limiter: createGenerousLimiter(),
    nodeMeter: createNodeMeter(),
    atOnce: createGenerousPlaces(),
    capacity: createCapacity(systemClock),
    keys: createTestKeys(),
    uses: createTestUses(deps.db),
    trustedProxies: [],
    corsOrigins: [],
    describeService: () => SERVED_BY,
    quote: async () => ({ quotes: [], minimumSdkVersion: [7, 0, 0] }),
    issueMany: async () => ({ addresses: [] }),
    ...deps,
  });
  const url = await app.listen({ host: "127.0.0.1", port: 0 });
  return { url, close: () => app.close() };
}

/** Starts the stream, on the server of the REST interface. */
export async function startStream(
  deps: TestDeps & {
    readonly limiter: RateLimiter;
    readonly socketCaps?: SocketCaps;
    readonly onRefused?: OnRefused;
  },
) {
  const app = createTestApi(deps);
  const { server } = app;
  const stream = createStream({
    server,
    streamDb: deps.db,
    keys: createTestKeys(),
    uses: createTestUses(deps.db),
    pepper: PEPPER,
    log: silentLog,
    trustedProxies: [],
    socketCaps: { perKey: 1_000, perAddress: 1_000 },
    ...deps,
  });
  const url = await app.listen({ host: "127.0.0.1", port: 0 });
  const close = async () => {
    await stream.close();
    await app.close();
  };
  return { ...stream, server, url, port: Number(new URL(url).port), close };
}
