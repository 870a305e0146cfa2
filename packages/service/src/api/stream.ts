/**
 * The live stream: Socket.IO over websocket only. A socket joins the room of its integrator, which the server chooses, and
 * receives the events that the tail of the event log emits there. Clients send nothing.
 */
import { STREAM_CONNECTED_CHANNEL, STREAM_EVENT_CHANNEL } from "@sluice/sdk/wire";
import type { Server as HttpServer, RequestListener } from "node:http";
import { Server, type Socket } from "socket.io";
import { OperatingError, toErrorObject, toOperatingError } from "../core/errors.ts";
import type { Secret } from "../core/secret.ts";
import type { Db } from "../db/schema.ts";
import { createTail, type Tail } from "../events/index.ts";
import { listRevoked, type Principal } from "../integrators/index.ts";
import type { Log } from "../telemetry/log.ts";
import { identify } from "./admission.ts";
import { createAddressReader } from "./client-address.ts";
import { type RateLimiter, refuseExceeded } from "./rate-limits.ts";
import { createSocketCounter, type SocketCaps } from "./socket-caps.ts";

export interface Stream {
  /** Live end of the event log; roles wake and pump it. */
  readonly tail: Tail;
  /** Closes sockets whose key was revoked after they connected. */
  cutRevoked(): Promise<void>;
  /** Returns the number of connected sockets. */
  countSockets(): number;
  close(): Promise<void>;
}

/** Events of less than a kilobyte each that may wait for a slow client before its socket is closed. */
const WAITING_PACKETS_MAX = 2_000;
const PACKET_BYTES_MAX = 16_000;
/** Messages of a connection before it is closed. Clients connect and disconnect in one each; any other may cost an answer. */
const MESSAGES_MAX = 100;
const CONNECT_TIMEOUT_MS = 10_000;

/** Attaches the stream to a server, listening or not, and allows only handshakes to upgrade. */
export function createStream(options: {
  readonly server: HttpServer;
  readonly db: Db;
  readonly pepper: Secret;
  readonly log: Log;
  readonly limiter: RateLimiter;
  /** Proxies whose `X-Forwarded-For` is trusted, by address or range. */
  readonly trustedProxies: readonly string[];
  readonly socketCaps: SocketCaps;
}): Stream {
  const { db, pepper, log, limiter, server } = options;
  const addressOf = createAddressReader(options.trustedProxies);
  const counter = createSocketCounter(options.socketCaps);
  const plain = server.listeners("request");
  const io = new Server(server, {
    transports: ["websocket"],
    allowUpgrades: false,
    serveClient: false,
    perMessageDeflate: false,
    httpCompression: false,
    maxHttpBufferSize: PACKET_BYTES_MAX,
    connectTimeout: CONNECT_TIMEOUT_MS,
  });
  // The library gets handshakes only; the application answers all other requests.
  server.removeAllListeners("request");
  // CAST: listeners of that event, removed from it above.
  for (const listener of plain) server.on("request", listener as RequestListener);
  const principals = new WeakMap<Socket, Principal>();
  /** Connections that have asked for admission. */
  const asked = new WeakSet<Socket["conn"]>();
  const tail = createTail({
    db,
    emit(integratorId, events) {
      for (const { type, data, timestamp } of events) {
        io.to(integratorId).emit(STREAM_EVENT_CHANNEL, { type, data, timestamp });
      }
      for (const id of io.of("/").adapter.rooms.get(integratorId) ?? []) {
        const socket = io.of("/").sockets.get(id);
        if (socket) cutIfSlow(socket, log);
      }
    },
  });

  /** Handshakes count against the address for any key: each costs more than a request. */
  async function admit(socket: Socket): Promise<Principal> {
    const { conn } = socket;
    if (asked.has(conn)) {
      throw new OperatingError("VALIDATION_ERROR", "A connection is let in once.", {
        details: { field: "connect" },
      });
    }
    asked.add(conn);
    const address = addressOf(socket.request);
    refuseExceeded(await limiter.take("perAddress", address));
    counter.enter("perAddress", address, conn);
    const key = keyOf(socket);
    const deps = { db, pepper, limiter };
    const principal = await identify(deps, { key, address, enforce: refuseExceeded });
    counter.enter("perKey", principal.keyId, conn);
    return principal;
  }

  io.engine.on("connection", (conn: Socket["conn"]) => {
    if (!counter.accept(addressOf(conn.request), conn)) cut(conn);
    let messages = 0;
    conn.on("message", () => {
      messages += 1;
      if (messages > MESSAGES_MAX) conn.close();
    });
  });

  io.use((socket, next) => {
    admit(socket).then(
      (principal) => {
        principals.set(socket, principal);
        next();
      },
      (thrown: unknown) => {
        const error = toOperatingError(thrown);
        if (error.code === "INTERNAL") log.error({ err: thrown }, "handshake failed");
        next(Object.assign(new Error(error.message), { data: toErrorObject(error) }));
        // After the refusal, which the library sends in the next tick.
        process.nextTick(() => socket.conn.close());
      },
    );
  });

  io.on("connection", (socket) => {
    const principal = principals.get(socket);
    if (!principal) return socket.disconnect(true);
    const { integratorId, integratorName } = principal;
    socket.onAny(() => socket.disconnect(true));
    const enter = () => {
      if (!socket.connected) return false;
      void socket.join(integratorId);
      socket.on("disconnect", () => tail.leave(integratorId));
      socket.emit(STREAM_CONNECTED_CHANNEL, { integratorName });
      return true;
    };
    tail.join(integratorId, enter).catch((error: unknown) => {
      log.error({ err: error }, "socket could not join its room");
      // Closes the connection without a disconnect packet: clients do not reconnect after one.
      socket.conn.close();
    });
    return undefined;
  });

  return {
    tail,
    async cutRevoked() {
      const sockets = [...io.of("/").sockets.values()];
      const keyIds = new Set(sockets.flatMap((socket) => principals.get(socket)?.keyId ?? []));
      const revoked = await listRevoked(db, [...keyIds]);
      for (const socket of sockets) {
        if (revoked.has(principals.get(socket)?.keyId ?? "")) socket.disconnect(true);
      }
    },
    countSockets: () => io.of("/").sockets.size,
    close: () => io.close(),
  };
}

/** Returns the key from the handshake, or from the query for browsers. */
function keyOf(socket: Socket): unknown {
  const { auth, query } = socket.handshake;
  return auth.apiKey ?? query.apiKey;
}

/**
 * Closes a socket whose client does not keep up. The client sees a lost connection, reconnects and catches up by replay.
 * Waiting events are in the connection's queue, which holds everything while one write is in progress.
 */
function cutIfSlow(socket: Socket, log: Log): void {
  const queue: unknown = Reflect.get(socket.conn, "writeBuffer");
  const waiting = Array.isArray(queue) ? queue.length : 0;
  if (waiting <= WAITING_PACKETS_MAX) return;
  log.warn({ waiting }, "slow client disconnected");
  cut(socket.conn);
}

/** Ends a connection at once and drops unsent data. */
function cut(conn: Socket["conn"]): void {
  conn.close(true);
  // The websocket would wait 30 seconds for the close handshake and hold unsent data until then.
  const raw: unknown = Reflect.get(conn.transport, "socket");
  if (typeof raw !== "object" || raw === null || !("terminate" in raw)) return;
  if (typeof raw.terminate === "function") raw.terminate();
}
