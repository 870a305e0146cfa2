/**
 * A node as a process of its own: detached from the launcher, so that a kill of the launcher leaves it running and the
 * next start adopts it.
 *
 * In the nodes' folder lie `NAME.pid.json` (which process, which port) and `NAME.log`.
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

/** Which node of a folder. */
export interface NodeIdentity {
  readonly name: string;
  /** Folder of the nodes' files. */
  readonly dir: string;
  /** File that keeps the chain; the process is told of it, and is known by it. */
  readonly statePath: string;
  /** Id of the chain, so that the node of another one is never adopted. */
  readonly chainId: number;
}

/** How to start a node and how to ask it whether it is there. */
export interface DetachedOptions extends NodeIdentity {
  /** Port to listen on; 0 for any. Absent: where it already runs, else the default. */
  readonly port?: number;
  readonly defaultPort: number;
  /** What to run for a port. The arguments hold the state file and the port. */
  command(port: number): { readonly binary: string; readonly args: readonly string[] };
  /** True when the node answers as this chain. No answer is an expected outcome while it starts. */
  answers(rpcUrl: string): Promise<boolean>;
}

/** A running node. */
export interface DetachedNode {
  readonly process: ProcessIdentity;
  readonly port: number;
  readonly rpcUrl: string;
  readonly logPath: string;
  readonly isAdopted: boolean;
  /** Ends the node, which saves its chain. */
  stop(): Promise<void>;
}

/** Adopts the node if it runs, else starts it. */
export async function openDetached(options: DetachedOptions): Promise<DetachedNode> {
  const files = filesOf(options);
  const running = findRunning(options);
  if (running) {
    const { port } = options;
    const wanted = port === undefined || port === 0 || port === running.port;
    if (wanted && (await options.answers(urlOf(running.port)))) {
      return makeNode(options, { ...running, isAdopted: true });
    }
    await stopProcess(running.process, STOP_GRACE_MS);
  }
  rmSync(files.pid, { force: true });
  return startNode(options);
}

/** Ends the node if one runs from this folder. */
export async function stopLeftDetached(identity: NodeIdentity): Promise<void> {
  const running = findRunning(identity);
  if (running) await stopProcess(running.process, STOP_GRACE_MS);
  rmSync(filesOf(identity).pid, { force: true });
}

/** Tells when a node's process has ended although nobody stopped it. Returns what ends the watch. */
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

/** The node that the pid file names, if that process runs and is that node. */
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
  const { name, dir, chainId } = options;
  const files = filesOf(options);
  const wanted = options.port ?? options.defaultPort;
  await assertPortFree(wanted, `the node of ${name}`, `--${name}-port`);
  const port = wanted === 0 ? await findFreePort() : wanted;
  mkdirSync(dir, { recursive: true });

  const { binary, args } = options.command(port);
  const log = openSync(files.log, "a");
  const child = spawn(binary, args, { detached: true, stdio: ["ignore", log, log] });
  closeSync(log);
  let failure: string | undefined;
  child.once("error", (error) => {
    failure = error.message;
  });
  child.once("exit", (code, signal) => {
    failure ??= `it ended with ${signal ?? `code ${code}`}`;
  });
  child.unref();
  if (child.pid === undefined) {
    throw new SandboxError(`${binary} could not be started: reinstall with npm ci`);
  }
  const identity = writeProcessFile(files.pid, child.pid, { port, chainId });

  const node = makeNode(options, { process: identity, port, isAdopted: false });
  try {
    await waitForAnswer(options, node, () => failure);
  } catch (error) {
    await node.stop();
    throw error;
  }
  return node;
}

function makeNode(
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

async function waitForAnswer(
  { name, answers }: DetachedOptions,
  { rpcUrl, logPath }: DetachedNode,
  failure: () => string | undefined,
): Promise<void> {
  const deadline = Date.now() + START_TIMEOUT_MS;
  for (;;) {
    const reason = failure() ?? (Date.now() > deadline ? "it does not answer" : undefined);
    if (reason !== undefined) {
      throw new SandboxError(
        `the node of ${name} did not start: ${reason} (${lastLine(logPath)}, see ${logPath}); --fresh begins anew`,
      );
    }
    if (await answers(rpcUrl)) return;
    await sleep(20);
  }
}

function lastLine(path: string): string {
  const lines = readFileSync(path, "utf8").trim().split("\n");
  return lines.at(-1) || "its log is empty";
}

function urlOf(port: number): string {
  return `http://127.0.0.1:${port}`;
}
