/**
 * The live stream: Socket.IO over websocket only. A socket joins the room of its integrator, which the server chooses, and
 * receives the events that the tail of the event log emits there. Clients send nothing.
 */
import { STREAM_CONNECTED_CHANNEL, STREAM_EVENT_CHANNEL } from "@sluice/sdk/wire";
import type { Server as HttpServer, RequestListener } from "node:http";
import { Server, type Socket } from "socket.io";
import { WebSocket } from "ws";
import { assert } from "../core/assert.ts";
import { OperatingError, toErrorObject, toOperatingError } from "../core/errors.ts";
import type { Secret } from "../core/secret.ts";
import type { Db } from "../db/schema.ts";
import { createTail, type Tail, withoutDetails } from "../events/index.ts";
import { isAllowedFrom, type Principal, readRights } from "../integrators/index.ts";
import type { Log } from "../telemetry/log.ts";
import { identify } from "./admission.ts";
import { createCallerReader } from "./client-address.ts";
import { createConnectionGuard, UnansweringServer } from "./connection-guard.ts";
import type { KeyMemory } from "./key-memory.ts";
import { parseFlag } from "./query.ts";
import type { KeyUses } from "./key-uses.ts";
import { type Allowance, type RateLimiter, refuseExceeded } from "./rate-limits.ts";
import { type OnRefused, refusalOf } from "./refusals.ts";
import { createSocketCounter, type SocketCaps } from "./socket-caps.ts";

export interface Stream {
  /** Live end of the event log; roles wake and pump it. */
  readonly tail: Tail;
  /** Closes sockets whose key was revoked, has expired or lost its rights after they connected. */
  cutRefused(): Promise<void>;
  /** Begins an interval of the bounds on connections; to be called every `BOUNDS_INTERVAL_MS`. */
  restartBounds(): void;
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
const STREAM_SCOPE = "read";

/** Attaches the stream to a server, listening or not, and allows only handshakes to upgrade. */
export function createStream(options: {
  readonly server: HttpServer;
  /** Reads keys. */
  readonly db: Db;
  /** Reads events, over connections that no caller takes. */
  readonly streamDb: Db;
  readonly pepper: Secret;
  readonly log: Log;
  readonly limiter: RateLimiter;
  readonly keys: KeyMemory;
  readonly uses: KeyUses;
  /** Proxies whose `X-Forwarded-For` is trusted, by address or range. */
  readonly trustedProxies: readonly string[];
  readonly socketCaps: SocketCaps;
  readonly onRefused?: OnRefused;
}): Stream {
  const { db, streamDb, pepper, log, limiter, server, onRefused = () => undefined } = options;
  const callerOf = createCallerReader(options.trustedProxies);
  const counter = createSocketCounter(options.socketCaps);
  const guard = createConnectionGuard();
  const plain = server.listeners("request");
  const io = new Server(server, {
    transports: ["websocket"],
    allowUpgrades: false,
    serveClient: false,
    perMessageDeflate: false,
    httpCompression: false,
    maxHttpBufferSize: PACKET_BYTES_MAX,
    connectTimeout: CONNECT_TIMEOUT_MS,
    wsEngine: UnansweringServer,
  });
  // The library gets handshakes only; the application answers all other requests.
  server.removeAllListeners("request");
  // CAST: listeners of that event, removed from it above.
  for (const listener of plain) server.on("request", listener as RequestListener);
  const principals = new WeakMap<Socket, Principal>();
  /** Sockets whose handshake asked for details. */
  const extendedSockets = new WeakSet<Socket>();
  /** Connections that have asked for admission. */
  const asked = new WeakSet<Socket["conn"]>();
  const tail = createTail({
    db: streamDb,
    emit(integratorId, events) {
      const { adapter } = io.of("/");
      const [room, extendedRoom] = [roomOf(integratorId, false), roomOf(integratorId, true)];
      for (const event of events) {
        const { id: _, ...extended } = event;
        if (adapter.rooms.has(extendedRoom)) {
          io.to(extendedRoom).emit(STREAM_EVENT_CHANNEL, extended);
        }
        const plain = withoutDetails(event);
        if (plain === null) continue;
        const { type, data, timestamp } = plain;
        io.to(room).emit(STREAM_EVENT_CHANNEL, { type, data, timestamp });
      }
      for (const id of [room, extendedRoom].flatMap((name) => [
        ...(adapter.rooms.get(name) ?? []),
      ])) {
        const socket = io.of("/").sockets.get(id);
        if (socket && cutIfSlow(socket, log)) onRefused("slow_client");
      }
    },
  });

  /** Remaining allowance of the address of each connection, read when it was opened. */
  const allowances = new WeakMap<Socket["conn"], Promise<Allowance>>();

  async function admit(socket: Socket): Promise<Principal> {
    const { conn } = socket;
    if (asked.has(conn)) {
      throw new OperatingError("VALIDATION_ERROR", "A connection is let in once.", {
        details: { field: "connect" },
      });
    }
    asked.add(conn);
    const caller = callerOf(socket.request);
    const { counted: address } = caller;
    const allowance = allowances.get(conn);
    assert(allowance, "a connection is counted before it asks");
    refuseExceeded(await allowance);
    counter.enter("perAddress", address, conn);
    const key = options.keys.present(keyOf(socket));
    const deps = { db, pepper, limiter, log };
    const principal = await identify(deps, {
      key,
      caller,
      scope: STREAM_SCOPE,
      enforce: refuseExceeded,
    });
    counter.enter("perKey", principal.keyId, conn);
    if (wantsDetails(socket)) extendedSockets.add(socket);
    options.uses.countRequest(principal.keyId);
    return principal;
  }

  io.engine.on("connection", (conn: Socket["conn"]) => {
    const { counted: address } = callerOf(conn.request);
    // Connections count against the address for any key and without one: each costs more than a request.
    const allowance = limiter.take("perAddress", address);
    // A connection that never asks reads no allowance: a failure to count must not end the process.
    allowance.catch(() => undefined);
    allowances.set(conn, allowance);
    if (!counter.accept(address, conn)) {
      onRefused("sockets");
      cut(conn);
    }
    const raw = rawOf(conn);
    if (raw) {
      guard.watch({ raw, tcp: conn.request.socket }, () => {
        onRefused("busy_client");
        endBusy(conn, log);
      });
    }
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
        const reason = refusalOf(error);
        if (reason !== null) onRefused(reason);
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
      void socket.join(roomOf(integratorId, extendedSockets.has(socket)));
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
    async cutRefused() {
      const sockets = [...io.of("/").sockets.values()];
      const keyIds = new Set(sockets.flatMap((socket) => principals.get(socket)?.keyId ?? []));
      const rights = await readRights(streamDb, [...keyIds]);
      for (const socket of sockets) {
        const known = rights.get(principals.get(socket)?.keyId ?? "");
        const isAdmitted =
          known?.scopes.has(STREAM_SCOPE) && isAllowedFrom(known, callerOf(socket.request).exact);
        if (!isAdmitted) socket.disconnect(true);
      }
    },
    countSockets: () => io.of("/").sockets.size,
    restartBounds: guard.restart,
    close: () => io.close(),
  };
}

/** Returns the room of an integrator's sockets, with or without details. */
function roomOf(integratorId: string, extended: boolean): string {
  return extended ? `${integratorId}:extended` : integratorId;
}

/** Returns whether the handshake, or the query for browsers, asks for details. */
function wantsDetails(socket: Socket): boolean {
  const { auth, query } = socket.handshake;
  return parseFlag(auth.extended ?? query.extended, "extended");
}

/** Returns the key from the handshake, or from the query for browsers. */
function keyOf(socket: Socket): unknown {
  const { auth, query } = socket.handshake;
  return auth.apiKey ?? query.apiKey;
}

/**
 * Closes a socket whose client does not keep up. The client sees a lost connection, reconnects and catches up by replay.
 * Waiting events are in the connection's queue, which holds everything while one write is in progress. Returns whether it closed.
 */
function cutIfSlow(socket: Socket, log: Log): boolean {
  const queue: unknown = Reflect.get(socket.conn, "writeBuffer");
  const waiting = Array.isArray(queue) ? queue.length : 0;
  if (waiting <= WAITING_PACKETS_MAX) return false;
  log.warn({ waiting }, "slow client disconnected");
  cut(socket.conn);
  return true;
}

/** Ends a connection that is over a bound of the guard. */
function endBusy(conn: Socket["conn"], log: Log): void {
  log.warn({}, "busy client disconnected");
  cut(conn);
}

/** Returns the websocket under a connection; undefined once it is closed. */
function rawOf(conn: Socket["conn"]): WebSocket | undefined {
  const raw: unknown = Reflect.get(conn.transport, "socket");
  return raw instanceof WebSocket ? raw : undefined;
}

/** Ends a connection at once and drops unsent data. */
function cut(conn: Socket["conn"]): void {
  const raw = rawOf(conn);
  conn.close(true);
  // The websocket would wait 30 seconds for the close handshake and hold unsent data until then.
  raw?.terminate();
}
