/** A provider in front of a node: an HTTP and WebSocket server with a profile's limits, words and faults. */
import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { promisify } from "node:util";
import { gzip } from "node:zlib";
import { SandboxError } from "../errors.ts";
import { createEvmPlanner } from "./planners/evm.ts";
import { createForks } from "./forks.ts";
import { createEvmHeads, createSolanaHeads } from "./heads.ts";
import { profileOf } from "./profiles.ts";
import { createRandom } from "./random.ts";
import { createRateLimit } from "./rate-limit.ts";
import { createResponder, type Responder } from "./responder.ts";
import {
  parseOverrides,
  type ProviderOptions,
  type ProviderOverrides,
  type ProviderSettings,
  resolveSettings,
} from "./settings.ts";
import { acceptSockets } from "./sockets.ts";
import { createSolanaPlanner } from "./planners/solana.ts";
import { type Counter, createCounter, type ProviderStats } from "./stats.ts";
import { createUpstream, readBody } from "./upstream.ts";

export interface Provider {
  readonly url: string;
  readonly wsUrl: string;
  stats(): ProviderStats;
  resetStats(): void;
  /** Changes settings from the next request on. A profile brings its own limits; earlier overrides of limits end. */
  set(overrides: ProviderOverrides): void;
  close(): Promise<void>;
}

/** Starts a provider. A setting that is absent comes from the profile. */
export async function startProvider(options: ProviderOptions): Promise<Provider> {
  const { upstream: upstreamUrl, host = "127.0.0.1", port = 0, seed = 1, ...overrides } = options;
  let settings = resolveSettings(overrides);
  const { family } = profileOf(settings.profile);
  const read = () => settings;
  const now = () => performance.now();
  const upstream = createUpstream(upstreamUrl);
  const counter = createCounter();
  const random = createRandom(seed);
  const forks = createForks({ upstream, settings: read, random: createRandom(seed + 1), counter });
  const responder = createResponder({
    upstream,
    settings: read,
    random,
    counter,
    rate: createRateLimit(() => settings.ratePerSecond, now),
    planner:
      family === "evm"
        ? createEvmPlanner(upstream, read, now)
        : createSolanaPlanner(upstream, read),
    forks,
  });
  const heads =
    family === "evm"
      ? createEvmHeads(upstream, forks, counter)
      : createSolanaHeads(upstream, counter);
  const set = (changes: ProviderOverrides) => {
    settings = change(settings, changes);
  };
  const server = createServer((request, response) => {
    serve(request, response, { settings: read, responder, counter, set }).catch(() => {
      // The client sees a dropped connection.
      counter.add("nodeFailures", 1);
      request.socket.destroy();
    });
  });
  server.listen(port, host);
  await once(server, "listening");
  const endSockets = acceptSockets(server, { settings: read, responder, heads, counter });
  const address = addressOf(server);
  return {
    url: `http://${address}`,
    wsUrl: `ws://${address}`,
    stats: counter.read,
    resetStats: counter.reset,
    set,
    close: async () => {
      heads.close();
      endSockets();
      const closed = once(server, "close");
      server.close();
      server.closeAllConnections();
      await closed;
      upstream.close();
    },
  };
}

function change(settings: ProviderSettings, changes: ProviderOverrides): ProviderSettings {
  const { profile } = changes;
  if (profile === undefined || profile === settings.profile) {
    return resolveSettings({ ...settings, ...changes });
  }
  if (profileOf(profile).family !== profileOf(settings.profile).family) {
    throw new SandboxError(`profile ${profile}: the provider serves another family of chains`);
  }
  return resolveSettings({ ...settings, ...profileOf(profile).limits, ...changes });
}

function addressOf(server: Server): string {
  const address = server.address();
  if (typeof address !== "object" || address === null) throw new Error("the server has no port");
  return `${address.family === "IPv6" ? `[${address.address}]` : address.address}:${address.port}`;
}

interface Parts {
  readonly settings: () => ProviderSettings;
  readonly responder: Responder;
  readonly counter: Counter;
  readonly set: (changes: ProviderOverrides) => void;
}

async function serve(
  request: IncomingMessage,
  response: ServerResponse,
  parts: Parts,
): Promise<void> {
  const { pathname } = new URL(request.url ?? "/", "http://provider");
  if (pathname === "/stats") return serveStats(request, response, parts);
  if (pathname === "/settings") return serveSettings(request, response, parts);
  if (request.method !== "POST") return void response.writeHead(405).end();
  await connect(request, parts);
  const reply = await parts.responder.respond((await readBody(request)).toString("utf8"));
  if (reply.kind === "drop") return drop(response, reply.half);
  if (reply.kind === "stall") return;
  const headers = {
    "content-type": reply.contentType,
    ...(reply.retryAfterSeconds === null ? {} : { "retry-after": `${reply.retryAfterSeconds}` }),
  };
  const accepts = String(request.headers["accept-encoding"] ?? "");
  if (parts.settings().gzip && /\bgzip\b/.test(accepts)) {
    const body = await promisify(gzip)(reply.body, { level: 1 });
    response.writeHead(reply.status, { ...headers, "content-encoding": "gzip" }).end(body);
    return;
  }
  response.writeHead(reply.status, headers).end(reply.body);
}

/** Connections with a first request. */
const connected = new WeakSet<Socket>();

/** Waits as long as a new connection takes, once for each. */
async function connect({ socket }: IncomingMessage, parts: Parts): Promise<void> {
  if (connected.has(socket)) return;
  connected.add(socket);
  parts.counter.add("connections", 1);
  for (let trip = 0; trip < parts.settings().connectRoundTrips; trip += 1) {
    await parts.responder.travel();
    await parts.responder.travel();
  }
}

/** Ends the connection, after the first half of an answer if there is one. */
function drop(response: ServerResponse, answer: Buffer | undefined): void {
  if (answer === undefined) return void response.socket?.destroy();
  response.writeHead(200, {
    "content-type": "application/json",
    "content-length": answer.length,
  });
  response.write(answer.subarray(0, Math.floor(answer.length / 2)), () =>
    response.socket?.destroy(),
  );
}

/** `GET /stats` reads the counts, `DELETE /stats` begins new ones. */
function serveStats(request: IncomingMessage, response: ServerResponse, { counter }: Parts): void {
  if (request.method === "DELETE") counter.reset();
  response.writeHead(200, { "content-type": "application/json" });
  response.end(JSON.stringify(counter.read()));
}

/** `GET /settings` reads the settings, `POST /settings` changes those of its body. */
async function serveSettings(
  request: IncomingMessage,
  response: ServerResponse,
  { settings, set }: Parts,
): Promise<void> {
  const answer = (status: number, body: object) => {
    response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
  };
  if (request.method !== "POST") return answer(200, settings());
  try {
    set(parseOverrides(JSON.parse((await readBody(request)).toString("utf8"))));
  } catch (error) {
    if (error instanceof SyntaxError) return answer(400, { error: "expected JSON" });
    if (error instanceof SandboxError) return answer(400, { error: error.message });
    throw error;
  }
  answer(200, settings());
}
