/**
 * Bounds on what one connection of the stream may cost: frames of any kind, bytes read, and bytes that wait for a client which
 * does not read. The library below answers each ping of a client at once and without a limit (RFC 6455, 5.5.2); here the
 * answers are counted, and a connection beyond a bound ends without one.
 */
import type { Socket as TcpSocket } from "node:net";
import { type RawData, type WebSocket, WebSocketServer } from "ws";

/** Frames of one connection per interval. A client sends one when it connects and one every 25 seconds. */
export const FRAMES_MAX = 50;
/** Bytes that one connection may send per interval. */
export const BYTES_READ_MAX = 64_000;
/** Bytes that may wait for a client. */
export const BYTES_WAITING_MAX = 4_000_000;
/** After this interval frames and bytes count from zero again, in milliseconds. */
export const BOUNDS_INTERVAL_MS = 10_000;
/** A packet of a client is short, and no client sends it in pieces. */
const FRAGMENTS_MAX = 16;

/** A server of websockets that answers no ping by itself. */
export class UnansweringServer extends WebSocketServer {
  constructor(options: ConstructorParameters<typeof WebSocketServer>[0]) {
    super({ ...options, autoPong: false, maxFragments: FRAGMENTS_MAX });
  }
}

export interface ConnectionGuard {
  /** Watches a connection until it closes; `end` ends it at once. */
  watch(connection: { readonly raw: WebSocket; readonly tcp: TcpSocket }, end: () => void): void;
  /** Begins an interval: counts from zero, and ends connections for which too much waits. */
  restart(): void;
}

interface Watched {
  frames: number;
  bytes: number;
  readonly raw: WebSocket;
  readonly end: () => void;
}

/** Creates a guard, which the caller restarts. Intervals are the same for all connections: thousands need one timer. */
export function createConnectionGuard(): ConnectionGuard {
  const watched = new Set<Watched>();

  return {
    watch({ raw, tcp }, end) {
      let ended = false;
      const endOnce = () => {
        if (ended) return;
        ended = true;
        watched.delete(one);
        end();
      };
      const one: Watched = { frames: 0, bytes: 0, raw, end: endOnce };
      /** Returns whether a frame is within the bounds. Frames of one chunk are read on after the end. */
      const count = () => {
        one.frames += 1;
        if (one.frames > FRAMES_MAX) endOnce();
        return !ended;
      };
      watched.add(one);
      tcp.on("data", (chunk: Buffer) => {
        one.bytes += chunk.length;
        if (one.bytes > BYTES_READ_MAX) endOnce();
      });
      raw.on("ping", (data: RawData) => {
        if (count()) raw.pong(data);
      });
      raw.on("pong", count);
      raw.on("message", count);
      raw.once("close", () => watched.delete(one));
    },
    restart() {
      for (const one of watched) {
        one.frames = 0;
        one.bytes = 0;
        if (one.raw.bufferedAmount > BYTES_WAITING_MAX) one.end();
      }
    },
  };
}
