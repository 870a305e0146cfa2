/** How many sockets there may be at once. Counted in this process, as the rate limits are. */
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

export interface SocketCounter {
  /**
   * Counts a connection until it is gone.
   * @throws OperatingError RPC_UNAVAILABLE when as many are there as may be.
   */
  enter(name: keyof SocketCaps, subject: string, connection: Connection): void;
}

export function createSocketCounter(caps: SocketCaps): SocketCounter {
  const open = { perKey: new Map<string, number>(), perAddress: new Map<string, number>() };
  return {
    enter(name, subject, connection) {
      const counts = open[name];
      const count = counts.get(subject) ?? 0;
      if (count >= caps[name]) throw refuse(name, caps[name]);
      // It went while its key was looked at, and will not say so again.
      if (connection.readyState === "closed") return;
      counts.set(subject, count + 1);
      connection.once("close", () => {
        const left = (counts.get(subject) ?? 0) - 1;
        if (left > 0) counts.set(subject, left);
        else counts.delete(subject);
      });
    },
  };
}

function refuse(name: keyof SocketCaps, limit: number): OperatingError {
  const whose = { perKey: "this key", perAddress: "this address" }[name];
  return new OperatingError("RPC_UNAVAILABLE", `Too many sockets of ${whose} are open.`, {
    details: { reason: "too_many_sockets", limit },
  });
}
