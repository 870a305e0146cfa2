import { randomInt } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:net";
import { SandboxError } from "./errors.ts";
import { isErrno } from "./json-file.ts";

const HOST = "127.0.0.1";

const PORT_MAX = 65_535;

/**
 * Drawn ports lie below those from which systems take the ports of connections (Linux from 32,768, others from 49,152). A
 * drawn port is used seconds later, and any connection might have taken it until then.
 */
const DRAWN_PORTS = { from: 10_000, below: 32_000 };
/** What this process has drawn, and may not use yet. */
const drawn = new Set<number>();

/** Returns a port of the loopback interface that is free now; `withNext` the first of two. Never returns one twice. */
export async function findFreePort({ withNext = false } = {}): Promise<number> {
  for (;;) {
    const port = randomInt(DRAWN_PORTS.from, DRAWN_PORTS.below);
    const ports = withNext ? [port, port + 1] : [port];
    if (ports.some((one) => drawn.has(one))) continue;
    for (const one of ports) drawn.add(one);
    if ((await Promise.all(ports.map(isFree))).every(Boolean)) return port;
  }
}

async function isFree(port: number): Promise<boolean> {
  try {
    await listenOnce(port);
    return true;
  } catch (error) {
    if (isErrno(error, "EADDRINUSE")) return false;
    throw error;
  }
}

/** Throws a `SandboxError` with port and option if the port is in use. Port 0 is always free. */
export async function assertPortFree(port: number, what: string, option: string): Promise<void> {
  if (port > PORT_MAX) {
    throw new SandboxError(
      `port ${port} (${what}) does not exist: choose a lower port with ${option}`,
    );
  }
  try {
    await listenOnce(port);
  } catch (error) {
    if (!isErrno(error, "EADDRINUSE") && !isErrno(error, "EACCES")) throw error;
    const problem = isErrno(error, "EACCES")
      ? "needs a permission that this user lacks: choose another port"
      : "is in use: stop the process that uses it, or choose another port";
    throw new SandboxError(`port ${port} (${what}) ${problem} with ${option}`);
  }
}

async function listenOnce(port: number): Promise<number> {
  const server = createServer();
  server.listen(port, HOST);
  await once(server, "listening");
  const address = server.address();
  server.close();
  await once(server, "close");
  if (typeof address !== "object" || address === null) throw new Error("the server has no port");
  return address.port;
}
