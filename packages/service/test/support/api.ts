/** The interfaces of the service, over a test's database. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { type ApiDeps, createApi } from "../../src/api/app.ts";
import { createRateLimiter, type RateLimiter } from "../../src/api/rate-limits.ts";
import { createStream } from "../../src/api/stream.ts";
import { hasValidChecksum, toChecksumAddress } from "../../src/chains/evm/checksum.ts";
import type { Db } from "../../src/db/schema.ts";
import type { Log } from "../../src/telemetry/log.ts";
import { silentLog } from "./doubles.ts";
import { PEPPER } from "./tenants.ts";

export type RunningApi = Awaited<ReturnType<typeof startApi>>;
export type RunningStream = Awaited<ReturnType<typeof startStream>>;

/** Counts, and refuses nothing that a test asks. */
export function createGenerousLimiter(): RateLimiter {
  const many = 1_000_000;
  return createRateLimiter({ perKey: many, perAddress: many, requestIndexPerKey: many });
}

type TestDeps = Pick<ApiDeps, "db"> & Partial<ApiDeps>;

/** The REST interface. Unless given, it scans no chain, and settling by request is not expected. */
export function createTestApi(deps: TestDeps) {
  return createApi({
    pepper: PEPPER,
    log: silentLog,
    display: toChecksumAddress,
    hasValidChecksum,
    requestIndex: () => Promise.reject(new Error("the test did not expect a request to settle")),
    scanned: [],
    limiter: createGenerousLimiter(),
    trustedProxies: [],
    corsOrigins: [],
    ...deps,
  });
}

/** Starts it, on a port of its own. */
export async function startApi(deps: TestDeps) {
  const app = createTestApi(deps);
  const url = await app.listen({ host: "127.0.0.1", port: 0 });
  return { url, close: () => app.close() };
}

/** Starts the stream on a server that answers nothing else. */
export async function startStream(deps: {
  readonly db: Db;
  readonly limiter: RateLimiter;
  readonly log?: Log;
}) {
  const server = createServer((_, response) => response.writeHead(404).end());
  const stream = createStream({ server, pepper: PEPPER, log: silentLog, ...deps });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  // CAST: a server that listens on TCP has an address.
  const { port } = server.address() as AddressInfo;
  return { ...stream, server, port, url: `http://127.0.0.1:${port}` };
}
