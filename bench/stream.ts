/**
 * Measures the live stream with many sockets of one integrator beside a bare Socket.IO server that emits the same events: the time
 * to connect, the memory of the server per socket, and the time from the first socket that has an event to the last one.
 * All sockets are in this process.
 *
 *     npm run bench -- stream [--sockets 5000] [--events 10]
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { parseArgs } from "node:util";
import { pay, type Sandbox } from "@sluice/sandbox";
import { io, type Socket } from "socket.io-client";
import { apiKeyOf, issue } from "./deposits.ts";
import { median } from "./median.ts";
import { withSandbox } from "./sandbox.ts";

const BARE = join(import.meta.dirname, "stream-server.ts");
/** Sockets that connect at the same time. */
const CONNECTING = 50;
const AMOUNT = 25_000_000n;
const DEADLINE_MS = 60_000;
const MANY = 100_000;

export async function benchStream(args: readonly string[]): Promise<void> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      sockets: { type: "string", default: "5000" },
      events: { type: "string", default: "10" },
    },
  });
  const [sockets, events] = [Number(values.sockets), Number(values.events)];
  await withSandbox(async (sandbox) => {
    writeLimits(sandbox.configPath, sockets);
    await sandbox.restartService();
    const { service, seen } = await measureService(sandbox, { sockets, events });
    const bare = await measureBare(seen, sockets);
    console.table({ service, "bare Socket.IO": bare });
  });
}

/** Raises the limits of a configuration, for one key at one address. */
function writeLimits(path: string, sockets: number): void {
  const config = JSON.parse(readFileSync(path, "utf8"));
  const most = 2 * sockets;
  config.socketCaps = { perKey: most, perAddress: most, connectionsPerAddress: most };
  config.rateLimits = { ...config.rateLimits, perKey: MANY, perAddress: MANY };
  writeFileSync(path, JSON.stringify(config));
}

/** Measures the service with the events of deposits. */
async function measureService(
  sandbox: Sandbox,
  { sockets, events }: { readonly sockets: number; readonly events: number },
) {
  const { chains, keys, deployment, service } = sandbox;
  const [payer] = keys.payers.base;
  if (!payer) throw new Error("the sandbox has payers");
  const wallets = await issue(sandbox, { route: "MONO_CHAIN", deposits: events });
  const pid = service.pid;
  const crowd = await connect({
    url: service.baseUrl,
    auth: { apiKey: apiKeyOf(sandbox.descriptor) },
    pid,
    sockets,
  });
  const { token } = deployment.chains.base;
  for (const to of wallets) {
    await pay(chains.base.client, { from: payer.account, to, token, amount: AMOUNT });
    await crowd.untilQuiet();
  }
  crowd.close();
  return { service: crowd.describe(), seen: crowd.seen() };
}

/** Measures the bare server with given events, one after another. */
async function measureBare(events: readonly string[], sockets: number) {
  const child = spawn(process.execPath, [BARE], { stdio: ["pipe", "pipe", "inherit"] });
  try {
    const [url] = await once(createInterface({ input: child.stdout }), "line");
    if (child.pid === undefined) throw new Error("the bare server runs");
    const crowd = await connect({ url: String(url), auth: {}, pid: child.pid, sockets });
    for (const event of events) {
      child.stdin.write(`${event}\n`);
      await crowd.untilQuiet();
    }
    crowd.close();
    return crowd.describe();
  } finally {
    child.kill();
  }
}

/** Connects many sockets, which count the events that they get. */
async function connect(options: {
  readonly url: string;
  readonly auth: object;
  readonly pid: number;
  readonly sockets: number;
}) {
  const { url, auth, pid, sockets } = options;
  /** By event, as JSON: the times of its first and last arrival. */
  const arrivals = new Map<string, { readonly firstMs: number; lastMs: number; count: number }>();
  const before = readMemory(pid);
  const startedAt = performance.now();
  const open: Socket[] = [];
  while (open.length < sockets) {
    const some = Array.from({ length: Math.min(CONNECTING, sockets - open.length) }, () =>
      io(url, { transports: ["websocket"], auth, forceNew: true, reconnection: false }),
    );
    await Promise.all(
      some.map((socket) => {
        const { promise, resolve, reject } = Promise.withResolvers<void>();
        socket.on("connected", () => resolve());
        socket.on("connect_error", reject);
        socket.on("event", (event: unknown) => {
          const nowMs = performance.now();
          const text = JSON.stringify(event);
          const known = arrivals.get(text);
          if (known) Object.assign(known, { lastMs: nowMs, count: known.count + 1 });
          else arrivals.set(text, { firstMs: nowMs, lastMs: nowMs, count: 1 });
        });
        return promise;
      }),
    );
    open.push(...some);
  }
  const connectedMs = performance.now() - startedAt;
  const memory = readMemory(pid) - before;
  const isComplete = () =>
    arrivals.size > 0 && [...arrivals.values()].every(({ count }) => count === sockets);
  return {
    /** Waits until every socket has every event, and no further one comes for a second. */
    async untilQuiet(): Promise<void> {
      const deadline = performance.now() + DEADLINE_MS;
      let known = -1;
      while (known !== arrivals.size || !isComplete()) {
        if (performance.now() > deadline) throw new Error("an event did not reach every socket");
        known = arrivals.size;
        const { promise, resolve } = Promise.withResolvers<void>();
        setTimeout(resolve, 1_000);
        await promise;
      }
    },
    close: () => open.forEach((socket) => socket.disconnect()),
    seen: () => [...arrivals.keys()],
    describe() {
      const spreads = [...arrivals.values()].map(({ firstMs, lastMs }) => lastMs - firstMs);
      return {
        sockets,
        "connected/s": Math.round((sockets * 1000) / connectedMs),
        "kB/socket": Math.round((memory / sockets) * 10) / 10,
        events: arrivals.size,
        "first to last ms, p50": Math.round(median(spreads)),
        "most ms": Math.round(Math.max(...spreads)),
      };
    },
  };
}

/** Returns the resident memory of a process, in kB. */
function readMemory(pid: number): number {
  const status = readFileSync(`/proc/${pid}/status`, "utf8");
  return Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1]);
}
