/**
 * Runs a node as a detached process: it survives a kill of the launcher, and the next start adopts it.
 *
 * The nodes' directory has `NAME.pid.json` (process and port) and `NAME.log` of each node.
 */
import { spawn } from "node:child_process";
import { closeSync, mkdirSync, openSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { SandboxError } from "./errors.ts";
import { assertPortFree, findFreePort } from "./ports.ts";
import {
  isRunning,
  type ProcessIdentity,
  readArguments,
  readProcessFile,
  stopProcess,
  writeProcessFile,
} from "./processes.ts";

const START_TIMEOUT_MS = 20_000;
const STOP_GRACE_MS = 20_000;
const WATCH_INTERVAL_MS = 500;

/** Identifies a node. */
export interface NodeIdentity {
  readonly name: string;
  /** Directory of the nodes' files. */
  readonly dir: string;
  /** File with the chain's state. It is an argument of the process, by which the process is recognized. */
  readonly statePath: string;
  /** Id of the chain, so that the node of another chain is never adopted. */
  readonly chainId: number;
}

/** How to start a node and to check that it is ready. */
interface DetachedOptions extends NodeIdentity {
  /** Port to listen on; 0 for any free port. Absent: the port of the running node, otherwise the default. */
  readonly port?: number;
  readonly defaultPort: number;
  /** Whether the node listens on the next port too. */
  readonly usesNextPort?: boolean;
  /** Returns the command for a port. The arguments include the state file and the port. */
  command(port: number): { readonly binary: string; readonly args: readonly string[] };
  /** Reports whether the node responds as this chain. No response is expected while it starts. */
  isReady(rpcUrl: string): Promise<boolean>;
}

/** A running node. */
export interface DetachedNode {
  readonly process: ProcessIdentity;
  readonly port: number;
  readonly rpcUrl: string;
  readonly logPath: string;
  readonly isAdopted: boolean;
  /** Stops the node, which saves its chain. */
  stop(): Promise<void>;
}

/** Adopts the node if it is running, otherwise starts it. */
export async function openDetached(options: DetachedOptions): Promise<DetachedNode> {
  const files = filesOf(options);
  const running = findRunning(options);
  if (running) {
    const { port } = options;
    const isPort = port === undefined || port === 0 || port === running.port;
    if (isPort && (await options.isReady(urlOf(running.port)))) {
      return createNode(options, { ...running, isAdopted: true });
    }
    await stopProcess(running.process, STOP_GRACE_MS);
  }
  rmSync(files.pid, { force: true });
  return startNode(options);
}

/** Stops the node if one is running from this directory. */
export async function stopLeftoverDetached(identity: NodeIdentity): Promise<void> {
  const running = findRunning(identity);
  if (running) await stopProcess(running.process, STOP_GRACE_MS);
  rmSync(filesOf(identity).pid, { force: true });
}

/** Calls `onEnd` when the node's process has ended. Returns a function that stops watching. */
export function watchNode(node: Pick<DetachedNode, "process">, onEnd: () => void): () => void {
  const timer = setInterval(() => {
    if (isRunning(node.process)) return;
    clearInterval(timer);
    onEnd();
  }, WATCH_INTERVAL_MS);
  timer.unref();
  return () => clearInterval(timer);
}

interface Running {
  readonly process: ProcessIdentity;
  readonly port: number;
}

function filesOf({ name, dir }: Pick<NodeIdentity, "name" | "dir">) {
  return { pid: join(dir, `${name}.pid.json`), log: join(dir, `${name}.log`) };
}

/** Returns the node that the pid file names, if that process is running and is this node. */
function findRunning(identity: NodeIdentity): Running | undefined {
  const found = readProcessFile(filesOf(identity).pid);
  if (!found || !isRunning(found.identity)) return undefined;
  const port = found.rest["port"];
  if (typeof port !== "number" || found.rest["chainId"] !== identity.chainId) return undefined;
  const args = readArguments(found.identity.pid);
  const isOurs = !args || (args.includes(identity.statePath) && args.includes(String(port)));
  return isOurs ? { process: found.identity, port } : undefined;
}

async function startNode(options: DetachedOptions): Promise<DetachedNode> {
  const { name, dir, chainId, usesNextPort = false } = options;
  const files = filesOf(options);
  const chosen = options.port ?? options.defaultPort;
  await assertPortFree(chosen, `the node of ${name}`, `--${name}-port`);
  if (usesNextPort && chosen !== 0) {
    await assertPortFree(chosen + 1, `subscriptions of ${name}`, `--${name}-port`);
  }
  const port = chosen === 0 ? await findFreePort({ withNext: usesNextPort }) : chosen;
  mkdirSync(dir, { recursive: true });

  const { binary, args } = options.command(port);
  const log = openSync(files.log, "a", 0o600);
  const child = spawn(binary, args, { detached: true, stdio: ["ignore", log, log] });
  closeSync(log);
  let failure: string | undefined;
  child.once("error", (error) => {
    failure = error.message;
  });
  child.once("exit", (code, signal) => {
    failure ??= `it exited with ${signal ?? `code ${code}`}`;
  });
  child.unref();
  if (child.pid === undefined) {
    throw new SandboxError(`${binary} could not be started: run npm ci`);
  }
  const identity = writeProcessFile(files.pid, child.pid, { port, chainId });

  const node = createNode(options, { process: identity, port, isAdopted: false });
  try {
    await waitUntilReady(options, node, () => failure);
  } catch (error) {
    await node.stop();
    throw error;
  }
  return node;
}

function createNode(
  options: DetachedOptions,
  running: Running & Pick<DetachedNode, "isAdopted">,
): DetachedNode {
  const files = filesOf(options);
  return {
    ...running,
    rpcUrl: urlOf(running.port),
    logPath: files.log,
    stop: async () => {
      await stopProcess(running.process, STOP_GRACE_MS);
      rmSync(files.pid, { force: true });
    },
  };
}

async function waitUntilReady(
  { name, isReady }: DetachedOptions,
  { rpcUrl, logPath }: DetachedNode,
  failure: () => string | undefined,
): Promise<void> {
  const deadline = Date.now() + START_TIMEOUT_MS;
  for (;;) {
    const reason = failure() ?? (Date.now() > deadline ? "it does not respond" : undefined);
    if (reason !== undefined) {
      throw new SandboxError(
        `the node of ${name} did not start: ${reason} (${lastLine(logPath)}, see ${logPath}). To delete the state, start again with --fresh`,
      );
    }
    if (await isReady(rpcUrl)) return;
    await sleep(20);
  }
}

function lastLine(path: string): string {
  const lines = readFileSync(path, "utf8").trim().split("\n");
  return lines.at(-1) || "the log is empty";
}

function urlOf(port: number): string {
  return `http://127.0.0.1:${port}`;
}
