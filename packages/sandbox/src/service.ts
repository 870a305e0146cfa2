/**
 * The service as a child process. It is detached, so that Ctrl-C reaches the launcher alone and the launcher decides
 * the order in which things end. One that survived a killed launcher is ended before the next is started.
 */
import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, openSync, readFileSync, rmSync } from "node:fs";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { SandboxError } from "./errors.ts";
import { asRecord } from "./json-file.ts";
import {
  isRunning,
  type ProcessIdentity,
  readArguments,
  readProcessFile,
  stopProcess,
  writeProcessFile,
} from "./processes.ts";
import { statePaths } from "./state-paths.ts";

/** The service's command line. A path, not an import: the sandbox knows no more of the service than a user does. */
const SERVICE_MAIN = fileURLToPath(new URL("../../service/src/main.ts", import.meta.url));
const STOP_GRACE_MS = 20_000;

/** How to start the service. */
export interface ServiceOptions {
  readonly stateDir: string;
  /** Default: `service.json` of the state directory. */
  readonly configPath?: string;
  /** Of the service, separated by commas; all of them unless given. `api` and `quoter` must be among them. */
  readonly roles?: string;
  /** Added to the environment. The launcher's own settings of the service are not handed on. */
  readonly env?: Readonly<Record<string, string>>;
  /** Default 60000. */
  readonly readyTimeoutMs?: number;
}

/** How the service ended. */
export interface ServiceExit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** A running service. */
export interface RunningService {
  readonly baseUrl: string;
  readonly quoteUrl: string;
  /** Undefined where the configuration does not serve metrics. */
  readonly telemetryUrl: string | undefined;
  readonly pid: number;
  /** Resolves when the process has ended, for whatever reason. */
  readonly exited: Promise<ServiceExit>;
  /** Ends it without asking. */
  kill(): Promise<ServiceExit>;
  /** Asks it to end, and ends it when it does not. */
  stop(): Promise<ServiceExit>;
}

/** Starts the service and waits until it says that it is ready. */
export async function startService(options: ServiceOptions): Promise<RunningService> {
  const paths = statePaths(options.stateDir);
  await stopLeftService(options.stateDir);
  const log = openSync(paths.serviceLog, "a");
  const child = spawn(
    process.execPath,
    [
      SERVICE_MAIN,
      "serve",
      "--config",
      options.configPath ?? paths.serviceConfig,
      ...(options.roles === undefined ? [] : ["--roles", options.roles]),
    ],
    { detached: true, stdio: ["ignore", "pipe", log], env: serviceEnvironment(options.env) },
  );
  closeSync(log);
  if (child.pid === undefined) throw new SandboxError(`${process.execPath} could not be started`);
  const identity = writeProcessFile(paths.servicePid, child.pid);
  const exited = waitForExit(child);
  void exited.then(() => forget(paths.servicePid, identity));

  const running = {
    pid: child.pid,
    exited,
    kill: async () => {
      child.kill("SIGKILL");
      return exited;
    },
    stop: async () => {
      await stopProcess(identity, STOP_GRACE_MS);
      return exited;
    },
  };
  try {
    const urls = await waitUntilReady(child, { ...options, exited, log: paths.serviceLog });
    return { ...running, ...urls };
  } catch (error) {
    await running.stop();
    throw error;
  }
}

/** Ends the service that an earlier launcher left running on this state directory. */
export async function stopLeftService(stateDir: string): Promise<void> {
  const { servicePid } = statePaths(stateDir);
  const left = readProcessFile(servicePid);
  if (left && isRunning(left.identity)) {
    const args = readArguments(left.identity.pid);
    if (!args || args.includes(SERVICE_MAIN)) await stopProcess(left.identity, STOP_GRACE_MS);
  }
  rmSync(servicePid, { force: true });
}

/** Runs a command of the service and returns the JSON object that it prints. */
export async function runServiceCommand(
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<Readonly<Record<string, unknown>>> {
  const { stdout } = await promisify(execFile)(process.execPath, [SERVICE_MAIN, ...args], {
    env: serviceEnvironment(env),
    timeout: 60_000,
  });
  const result = asRecord(JSON.parse(stdout.trim().split("\n").at(-1) ?? ""));
  if (!result) throw new SandboxError(`the service answered ${args.join(" ")} with no object`);
  return result;
}

/** A setting in the user's shell, such as a database for something else, must not reach the sandbox. */
function serviceEnvironment(added: Readonly<Record<string, string>> = {}): NodeJS.ProcessEnv {
  const inherited = Object.entries(process.env).filter(
    ([name]) => !name.startsWith("SLUICE_") && name !== "DATABASE_URL",
  );
  return { ...Object.fromEntries(inherited), ...added };
}

async function waitForExit(child: ChildProcess): Promise<ServiceExit> {
  await once(child, "exit");
  return { code: child.exitCode, signal: child.signalCode };
}

/** Forgets a service that has ended, unless the file names another by now. */
function forget(path: string, { pid }: ProcessIdentity): void {
  if (readProcessFile(path)?.identity.pid === pid) rmSync(path, { force: true });
}

interface Waiting {
  readonly exited: Promise<ServiceExit>;
  readonly log: string;
  readonly readyTimeoutMs?: number;
}

async function waitUntilReady(
  child: ChildProcess,
  { exited, log, readyTimeoutMs = 60_000 }: Waiting,
): Promise<ServiceUrls> {
  const { stdout } = child;
  if (!stdout) throw new Error("the service's output is not piped");
  const lines = createInterface({ input: stdout });
  let timer: NodeJS.Timeout | undefined;
  const failed = Promise.withResolvers<never>();
  timer = setTimeout(() => failed.reject(notReady("it is not ready in time", log)), readyTimeoutMs);
  void exited.then(({ code, signal }) =>
    failed.reject(notReady(`it ended with ${signal ?? `code ${code}`}`, log)),
  );
  const ready = Promise.withResolvers<ServiceUrls>();
  lines.on("line", (line) => {
    const urls = parseReadyLine(line);
    if (urls) ready.resolve(urls);
  });
  try {
    return await Promise.race([ready.promise, failed.promise]);
  } finally {
    clearTimeout(timer);
    // Nobody waits for it any more once the service is ready.
    failed.promise.catch(() => undefined);
  }
}

type ServiceUrls = Pick<RunningService, "baseUrl" | "quoteUrl" | "telemetryUrl">;

function parseReadyLine(line: string): ServiceUrls | undefined {
  let value: Readonly<Record<string, unknown>> | undefined;
  try {
    value = asRecord(JSON.parse(line));
  } catch {
    // Some other line of output.
    return undefined;
  }
  const { ready, api, quote, telemetry } = value ?? {};
  if (ready !== true || typeof api !== "string" || typeof quote !== "string") return undefined;
  const telemetryUrl = typeof telemetry === "string" ? telemetry : undefined;
  return { baseUrl: api, quoteUrl: quote, telemetryUrl };
}

function notReady(reason: string, log: string): SandboxError {
  // The last line that is no stack frame: what a program says when it gives up.
  const lines = readFileSync(log, "utf8").trim().split("\n");
  const last = lines.findLast((line) => /^\S/.test(line)) ?? "its log is empty";
  return new SandboxError(`the service did not start: ${reason}: ${last} (see ${log})`);
}
