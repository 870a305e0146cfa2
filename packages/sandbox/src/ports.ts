import { once } from "node:events";
import { createServer } from "node:net";
import { SandboxError } from "./errors.ts";
import { isErrno } from "./json-file.ts";

const HOST = "127.0.0.1";

const PORT_MAX = 65_535;

/** Returns a port of the loopback interface that is free now; `withNext` the first of two. */
export async function findFreePort({ withNext = false } = {}): Promise<number> {
  for (;;) {
    const port = await listenOnce(0);
    if (!withNext) return port;
    if (port < PORT_MAX && (await isFree(port + 1))) return port;
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
