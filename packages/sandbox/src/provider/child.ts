/** A main module in a process of its own: it gets its options as the first message, and ends with its parent. */
import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { SandboxError } from "../errors.ts";
import { asRecord } from "../json-file.ts";

export interface Child {
  readonly url: string;
  readonly wsUrl: string;
  readonly pid: number;
  close(): Promise<void>;
}

/** Starts a main module with options and waits until it reports its URLs. Amounts are sent as decimal strings. */
export async function spawnMain(main: URL, options: object): Promise<Child> {
  const child: ChildProcess = fork(main, { stdio: ["ignore", "ignore", "inherit", "ipc"] });
  const ended = once(child, "exit");
  child.send(
    JSON.stringify(options, (_, value: unknown) =>
      typeof value === "bigint" ? value.toString() : value,
    ),
  );
  const [started] = await Promise.race([
    once(child, "message"),
    ended.then(() => {
      throw new SandboxError(`${main.pathname} ended at its start`);
    }),
  ]);
  const { url, wsUrl } = asRecord(started) ?? {};
  return {
    url: String(url),
    wsUrl: String(wsUrl),
    pid: child.pid ?? 0,
    close: async () => {
      child.kill();
      await ended;
    },
  };
}

/**
 * Runs a main module: reads its options from the parent's first message, or from `argument` without a parent; starts a
 * server and reports its URLs; and stops it on a signal or with the parent.
 */
export async function runMain(
  name: string,
  argument: () => string,
  start: (options: string) => Promise<Pick<Child, "url" | "wsUrl" | "close">>,
): Promise<void> {
  try {
    const started = await start(process.connected ? await readMessage() : argument());
    const { url, wsUrl } = started;
    if (process.connected) process.send?.({ url, wsUrl });
    else process.stdout.write(`${name}: ${url} and ${wsUrl}\n`);
    const stop = () => void started.close().then(() => process.exit());
    process.once("disconnect", stop);
    for (const signal of ["SIGTERM", "SIGINT"] as const) process.once(signal, stop);
  } catch (error) {
    if (!(error instanceof SandboxError)) throw error;
    process.stderr.write(`${name}: ${error.message}\n`);
    process.exit(1);
  }
}

async function readMessage(): Promise<string> {
  const [message] = await once(process, "message");
  return String(message);
}
