/**
 * Limits on open sockets, counted in this process like the rate limits. A connection becomes a socket when it asks for
 * admission; connections that have not asked, or were refused and are still open, are bounded too.
 */
import { OperatingError } from "../core/errors.ts";
import { TOO_MANY_SOCKETS } from "./refusals.ts";

/** Limits on sockets open at the same time. */
export interface SocketCaps {
  readonly perKey: number;
  /** Per address, for any keys. */
  readonly perAddress: number;
}

/** The connection under a socket, which reports its end. */
interface Connection {
  readonly readyState: string;
  once(event: "close", listener: () => void): unknown;
}

/** Connections of an address per allowed socket. */
const CONNECTIONS_PER_SOCKET = 2;

export interface SocketCounter {
  /** Counts any connection until it closes. Returns false if the address has too many: the caller closes it. */
  accept(address: string, connection: Connection): boolean;
  /**
   * Counts a socket until it closes.
   * @throws OperatingError RPC_UNAVAILABLE if the limit is reached.
   */
  enter(name: keyof SocketCaps, subject: string, connection: Connection): void;
}

export function createSocketCounter(caps: SocketCaps): SocketCounter {
  const limits = { ...caps, connections: caps.perAddress * CONNECTIONS_PER_SOCKET };
  const open = {
    perKey: new Map<string, number>(),
    perAddress: new Map<string, number>(),
    connections: new Map<string, number>(),
  };

  /** Counts one more, unless the limit is reached. */
  function count(name: keyof typeof open, subject: string, connection: Connection): boolean {
    const counts = open[name];
    const before = counts.get(subject) ?? 0;
    if (before >= limits[name]) return false;
    // Closed while its key was checked; it will not report that again.
    if (connection.readyState === "closed") return true;
    counts.set(subject, before + 1);
    connection.once("close", () => {
      const left = (counts.get(subject) ?? 0) - 1;
      if (left > 0) counts.set(subject, left);
      else counts.delete(subject);
    });
    return true;
  }

  return {
    accept: (address, connection) => count("connections", address, connection),
    enter(name, subject, connection) {
      if (!count(name, subject, connection)) throw refuse(name, caps[name]);
    },
  };
}

function refuse(name: keyof SocketCaps, limit: number): OperatingError {
  const whose = { perKey: "this key", perAddress: "this address" }[name];
  return new OperatingError("RPC_UNAVAILABLE", `Too many sockets of ${whose} are open.`, {
    details: { reason: TOO_MANY_SOCKETS, limit },
  });
}
