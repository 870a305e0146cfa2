/**
 * Caps the connections of a server, per address and together. A connection costs a descriptor of the process before it has
 * sent anything: without a cap one address could take all of them, also those of the database and the nodes.
 */
import type { Server } from "node:http";
import type { Socket } from "node:net";
import type { Log } from "../telemetry/log.ts";
import { createTrustList, networkOf } from "./client-address.ts";
import type { OnRefused } from "./refusals.ts";

export interface ConnectionCaps {
  /** Of one address. Trusted proxies, behind which there are many clients, are not counted by it. */
  readonly perAddress: number;
  /** Of the server. */
  readonly total: number;
}

/** Closes connections above the caps as soon as they are accepted. */
export function capConnections(
  server: Server,
  options: {
    readonly caps: ConnectionCaps;
    readonly trustedProxies: readonly string[];
    readonly log: Log;
    readonly onRefused?: OnRefused;
  },
): void {
  const { caps, log, onRefused } = options;
  const isTrusted = createTrustList(options.trustedProxies);
  const open = new Map<string, number>();
  server.maxConnections = caps.total;
  server.on("drop", () => {
    onRefused?.("connections");
    log.warn({ limit: caps.total }, "connection refused: too many in total");
  });
  server.on("connection", (socket: Socket) => {
    const remote = socket.remoteAddress ?? "";
    if (isTrusted(remote)) return;
    const address = networkOf(remote);
    const count = (open.get(address) ?? 0) + 1;
    if (count > caps.perAddress) {
      onRefused?.("connections");
      if (count === caps.perAddress + 1) {
        log.warn({ address, limit: caps.perAddress }, "connection refused: too many of an address");
      }
      socket.destroy();
      return;
    }
    open.set(address, count);
    socket.once("close", () => {
      const left = (open.get(address) ?? 1) - 1;
      if (left > 0) open.set(address, left);
      else open.delete(address);
    });
  });
}
