/** Receivers of webhooks on real sockets, and a dispatcher over a test's database. */
import { once } from "node:events";
import { createServer, type IncomingHttpHeaders, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { Clock } from "../../src/core/ports.ts";
import type { Db } from "../../src/db/schema.ts";
import { systemClock, systemRandom } from "../../src/roles/system-ports.ts";
import {
  createAddressRules,
  createDispatcher,
  createEndpoint,
  createWebhookPost,
  type EndpointDeps,
} from "../../src/webhooks/index.ts";
import { silentLog } from "./doubles.ts";
import { PEPPER, type Tenant } from "./tenants.ts";

/** A webhook as it arrived. */
export interface Arrived {
  readonly path: string;
  readonly id: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
  readonly json: {
    readonly type: string;
    readonly data: Record<string, unknown>;
    readonly timestamp: string;
  };
}

/** Rules of the sandbox: loopback is allowed. */
export const LOCAL_RULES = createAddressRules(["127.0.0.0/8", "::1/128"]);

/** Starts a receiver. `answer` decides each answer; 204 by default. Answers nothing to a webhook for which it does nothing. */
export async function startReceiver(
  answer: (arrived: Arrived, response: ServerResponse) => void = (_, response) =>
    void response.writeHead(204).end(),
) {
  const arrived: Arrived[] = [];
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const body = Buffer.concat(chunks).toString("utf8");
    const { headers, url = "" } = request;
    const one = {
      path: url,
      id: String(headers["webhook-id"]),
      headers,
      body,
      json: JSON.parse(body),
    };
    arrived.push(one);
    answer(one, response);
  });
  server.listen({ host: "127.0.0.1", port: 0 });
  await once(server, "listening");
  // CAST: a server that listens on a TCP port has such an address.
  const { port } = server.address() as AddressInfo;
  return {
    arrived,
    url: `http://127.0.0.1:${port}`,
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
}

/** The system's clock, ahead by what a test adds. */
export function createAheadClock(): Clock & { advance(ms: number): void } {
  let aheadMs = 0;
  return {
    ...systemClock,
    now: () => Date.now() + aheadMs,
    advance(ms) {
      aheadMs += ms;
    },
  };
}

/** Returns the dependencies of managing endpoints. */
export function createEndpointDeps(db: Db, clock: Clock = systemClock): EndpointDeps {
  return { db, clock, random: systemRandom, pepper: PEPPER, rules: LOCAL_RULES, endpointsMax: 100 };
}

/** Creates an endpoint of a tenant. */
export function insertEndpoint(
  db: Db,
  tenant: Tenant,
  url: string,
  settings: Partial<Parameters<typeof createEndpoint>[1]> = {},
  clock?: Clock,
) {
  return createEndpoint(createEndpointDeps(db, clock), {
    integratorId: tenant.id,
    url,
    description: null,
    types: null,
    extended: false,
    ordered: false,
    scheme: "v1",
    ...settings,
  });
}

/** Creates a dispatcher. `drain` polls until nothing is due or under way. */
export function createTestDispatcher(db: Db, clock: Clock = systemClock) {
  const post = createWebhookPost({ rules: LOCAL_RULES });
  const attempts: { outcome: string; latencyMs: number; lagMs: number | null }[] = [];
  const disabled: string[] = [];
  const dispatcher = createDispatcher({
    db,
    clock,
    random: systemRandom,
    log: silentLog,
    pepper: PEPPER,
    post,
    crashPoint: () => {},
    userAgent: "sluice-test",
    onAttempt: (attempt) => void attempts.push(attempt),
    onDisabled: (reason) => void disabled.push(reason),
    wake: () => {},
  });
  return {
    ...dispatcher,
    attempts,
    disabled,
    async drain(integratorId?: string) {
      if (integratorId === undefined) dispatcher.lookThrough();
      else dispatcher.prefer(integratorId);
      for (let more = true; more;) {
        more = await dispatcher.poll();
        const before = attempts.length;
        await dispatcher.idle();
        more ||= attempts.length > before;
      }
    },
    close: () => post.close(),
  };
}
