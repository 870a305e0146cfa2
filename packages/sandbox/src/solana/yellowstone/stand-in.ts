/**
 * A stand-in for a Yellowstone gRPC server in front of the sandbox's Solana node. It is not Yellowstone: it serves
 * `Subscribe` of the published `geyser.proto`, with the filters by outcome and of blocks without content, and refuses every
 * other filter. Faults can be switched on.
 */
import { setTimeout } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import {
  type handleBidiStreamingCall,
  Server,
  ServerCredentials,
  type ServerDuplexStream,
  status,
} from "@grpc/grpc-js";
import { loadSync, type PackageDefinition } from "@grpc/proto-loader";
import { openUpstream } from "./block-json.ts";
import { createFilter, type SubscribeRequest } from "./filter.ts";
import type { UpdateMessage } from "./messages.ts";
import { createFollower } from "./follower.ts";

/** Options of `startYellowstoneStandIn`. */
export interface YellowstoneStandInOptions {
  /** The JSON-RPC URL of the node. */
  readonly upstream: string;
  /** Port; 0 (the default) for any free port. */
  readonly port?: number;
  /** Required in the `x-token` header. Without it there is no check. */
  readonly token?: string;
  /** Slots that `from_slot` can reach back; 0 (the default): it is refused, as by servers that keep none. */
  readonly replaySlots?: number;
  /** Compresses messages, if the client accepts that. */
  readonly compress?: boolean;
}

/** Faults of the stream. */
export interface StreamFaults {
  /** Whether messages are dropped instead of sent. */
  isSilent: boolean;
  /** Changes a message before it is sent, or leaves it out by returning null. */
  alter: (message: UpdateMessage) => UpdateMessage | null;
}

/** A running stand-in. */
export interface YellowstoneStandIn {
  readonly url: string;
  readonly faults: StreamFaults;
  /** The subscriptions so far, the oldest first. */
  readonly requests: readonly SubscribeRequest[];
  /** Resolves when there is a subscription, from whose time on blocks are sent. */
  subscribed(): Promise<void>;
  /** Number of pings that clients answered. */
  readonly pings: () => number;
  /** Sends a ping to each client. */
  ping(): void;
  /** Sends a message to each client, without the faults. */
  send(message: UpdateMessage): void;
  /** Ends all streams, as a server does that restarts. */
  disconnect(): void;
  close(): Promise<void>;
}

type Stream = ServerDuplexStream<SubscribeRequest, UpdateMessage>;

const PROTO = fileURLToPath(new URL("proto/", import.meta.url));
const POLL_MS = 20;
/** Code of `grpc.default_compression_algorithm`. */
const GZIP = 2;

/** Starts a stand-in. */
export async function startYellowstoneStandIn(
  options: YellowstoneStandInOptions,
): Promise<YellowstoneStandIn> {
  const { port = 0, token } = options;
  const upstream = openUpstream(options.upstream);
  /** The last subscription of each stream. */
  const streams = new Map<Stream, SubscribeRequest | null>();
  /** Streams that get the blocks from now on. */
  const following = new Set<Stream>();
  let waiting: (() => void)[] = [];
  const requests: SubscribeRequest[] = [];
  const faults: StreamFaults = { isSilent: false, alter: (message) => message };
  let pings = 0;

  function send(stream: Stream, message: UpdateMessage): void {
    const altered = faults.isSilent ? null : faults.alter(message);
    if (altered) stream.write(altered);
  }

  function wake(): void {
    for (const resolve of waiting) resolve();
    waiting = [];
  }

  function forget(stream: Stream): void {
    streams.delete(stream);
    following.delete(stream);
  }

  function refuse(stream: Stream, code: status, details: string): void {
    forget(stream);
    stream.emit("error", Object.assign(new Error(details), { code, details }));
  }

  async function subscribe(stream: Stream, request: SubscribeRequest): Promise<void> {
    const filter = createFilter(request);
    if (typeof filter === "string") return refuse(stream, status.INVALID_ARGUMENT, filter);
    const follower = await createFollower(upstream, filter.level);
    const { from_slot: fromSlot } = request;
    if (fromSlot !== undefined && fromSlot !== null) {
      const reason = follower.goBackTo(BigInt(fromSlot), options.replaySlots ?? 0);
      if (reason !== null) return refuse(stream, status.INTERNAL, reason);
    }
    following.add(stream);
    wake();
    while (streams.get(stream) === request) {
      for (const block of await follower.next()) {
        for (const message of filter.select(block)) send(stream, message);
      }
      await setTimeout(POLL_MS);
    }
  }

  function receive(stream: Stream, request: SubscribeRequest): void {
    if (request.ping) {
      pings += 1;
      return send(stream, { filters: [], pong: { id: request.ping.id } });
    }
    requests.push(request);
    streams.set(stream, request);
    subscribe(stream, request).catch((error: unknown) =>
      refuse(stream, status.UNAVAILABLE, `the node gives no answer: ${String(error)}`),
    );
  }

  const open: handleBidiStreamingCall<SubscribeRequest, UpdateMessage> = (stream) => {
    const [given] = stream.metadata.get("x-token");
    if (token !== undefined && given !== token) {
      return refuse(stream, status.UNAUTHENTICATED, "no valid auth token");
    }
    streams.set(stream, null);
    stream.on("data", (request: SubscribeRequest) => receive(stream, request));
    stream.on("error", () => forget(stream));
    stream.on("cancelled", () => forget(stream));
    stream.on("end", () => stream.end());
  };

  const server = new Server(options.compress ? { "grpc.default_compression_algorithm": GZIP } : {});
  server.addService(loadService(), { Subscribe: open });
  const bound = await bind(server, port);
  return {
    url: `http://127.0.0.1:${bound}`,
    faults,
    requests,
    async subscribed() {
      while (following.size === 0) await new Promise<void>((resolve) => waiting.push(resolve));
    },
    pings: () => pings,
    ping() {
      for (const stream of streams.keys()) send(stream, { filters: [], ping: {} });
    },
    send(message) {
      for (const stream of streams.keys()) stream.write(message);
    },
    disconnect() {
      for (const stream of streams.keys()) refuse(stream, status.UNAVAILABLE, "going away");
    },
    async close() {
      streams.clear();
      server.forceShutdown();
    },
  };
}

function loadService() {
  const loaded: PackageDefinition = loadSync("geyser.proto", {
    includeDirs: [PROTO],
    keepCase: true,
    longs: String,
  });
  const service = loaded["geyser.Geyser"];
  if (!service || "format" in service) throw new Error("expected the service of geyser.proto");
  // CAST: a loaded service has no `format`, which messages and enumerations have.
  return service as Parameters<Server["addService"]>[0];
}

async function bind(server: Server, port: number): Promise<number> {
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  server.bindAsync(`127.0.0.1:${port}`, ServerCredentials.createInsecure(), (error, bound) =>
    error ? reject(error) : resolve(bound),
  );
  return promise;
}
