/**
 * How many sockets there may be at once. Counted in this process, as the rate limits are. A connection becomes a socket
 * when it asks to be let in; what has not asked yet, or was refused and is still there, is bounded too.
 */
import { OperatingError } from "../core/errors.ts";

/** Sockets that are open at once. */
export interface SocketCaps {
  readonly perKey: number;
  /** Of one address, whatever its keys. */
  readonly perAddress: number;
}

/** What carries a socket, and says when it is gone. */
interface Connection {
  readonly readyState: string;
  once(event: "close", listener: () => void): unknown;
}

/** Connections of an address for each socket that it may have. */
const CONNECTIONS_PER_SOCKET = 2;

export interface SocketCounter {
  /** Counts any connection until it is gone. False when an address has too many, and it is to be cut. */
  accept(address: string, connection: Connection): boolean;
  /**
   * Counts a connection until it is gone.
   * @throws OperatingError RPC_UNAVAILABLE when as many are there as may be.
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

  /** Counts one more, unless there are as many as may be. */
  function count(name: keyof typeof open, subject: string, connection: Connection): boolean {
    const counts = open[name];
    const before = counts.get(subject) ?? 0;
    if (before >= limits[name]) return false;
    // It went while its key was looked at, and will not say so again.
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
    details: { reason: "too_many_sockets", limit },
  });
}
