/**
 * Runs the service as a child process. It is detached, so that Ctrl-C reaches only the launcher, which then stops
 * everything in order. A service left over by a killed launcher is stopped before the next one starts.
 */
import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, openSync, readFileSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { createInterface } from "node:readline";
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

/** The service's command line. A path, not an import: the sandbox uses the service only as a user does. */
const SERVICE_MAIN = createRequire(import.meta.url).resolve("@sluice/service/main");
const STOP_GRACE_MS = 20_000;

/** Options of `startService`. */
export interface ServiceOptions {
  readonly stateDir: string;
  /** Default: `service.json` of the state directory. */
  readonly configPath?: string;
  /** Roles of the service, comma-separated, including `api` and `quoter`. Default: all roles. */
  readonly roles?: string;
  /** Added to the environment. Settings of the service in the launcher's own environment are not passed on. */
  readonly env?: Readonly<Record<string, string>>;
  /** In milliseconds. Default 60000. */
  readonly readyTimeoutMs?: number;
}

/** Exit status of the service. */
export interface ServiceExit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** A running service. */
export interface RunningService {
  readonly baseUrl: string;
  readonly quoteUrl: string;
  /** Undefined if the configuration has no telemetry port. */
  readonly telemetryUrl: string | undefined;
  /** The operators' console; undefined if the configuration has none. */
  readonly operatorsUrl: string | undefined;
  readonly pid: number;
  /** Resolves when the process has ended. */
  readonly exited: Promise<ServiceExit>;
  /** Kills the process (SIGKILL). */
  kill(): Promise<ServiceExit>;
  /** Stops the process gracefully (SIGTERM), and kills it after a timeout. */
  stop(): Promise<ServiceExit>;
}

/** Starts the service and waits until it is ready. */
export async function startService(options: ServiceOptions): Promise<RunningService> {
  const paths = statePaths(options.stateDir);
  await stopLeftoverService(options.stateDir);
  const log = openSync(paths.serviceLog, "a", 0o600);
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
  void exited.then(() => removePidFile(paths.servicePid, identity));

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

/** Stops the service that an earlier launcher left running on this state directory. */
export async function stopLeftoverService(stateDir: string): Promise<void> {
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
    timeout: COMMAND_TIMEOUT_MS,
  });
  const result = asRecord(JSON.parse(stdout.trim().split("\n").at(-1) ?? ""));
  if (!result) {
    throw new SandboxError(`sluice ${args.join(" ")} printed no JSON object: ${stdout.trim()}`);
  }
  return result;
}

/** A command of the service that loads and then waits for its input. */
export interface ServiceCommand {
  /** Writes the input, waits for the end, and returns the JSON objects that were printed, one per line. */
  finish(input: string): Promise<readonly Readonly<Record<string, unknown>>[]>;
  /** Ends it, and resolves when it has ended. */
  cancel(): Promise<void>;
}

/** Starts a command of the service that reads standard input before its configuration. */
export function startServiceCommand(
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): ServiceCommand {
  const running = promisify(execFile)(process.execPath, [SERVICE_MAIN, ...args], {
    env: serviceEnvironment(env),
  });
  const { child } = running;
  // It may end early, and has other handlers only once `finish` waits.
  running.catch(() => undefined);
  child.stdin?.on("error", () => undefined);
  return {
    async finish(input) {
      child.stdin?.end(input);
      const timer = setTimeout(() => child.kill(), COMMAND_TIMEOUT_MS);
      try {
        const { stdout } = await running;
        const lines = stdout.split("\n").filter((line) => line.trim() !== "");
        return lines.map((line) => asRecord(JSON.parse(line)) ?? {});
      } catch (error) {
        const problem = error instanceof Error ? lastLine(error) : String(error);
        throw new SandboxError(
          `sluice ${args.slice(0, 2).join(" ")} failed: ${problem}: run npm start again, or start from scratch with --fresh`,
          { cause: error },
        );
      } finally {
        clearTimeout(timer);
      }
    },
    async cancel() {
      child.kill();
      await running.catch(() => undefined);
    },
  };
}

const COMMAND_TIMEOUT_MS = 60_000;

/** Returns the last line of a failed command's output. */
function lastLine(error: Error): string {
  const output = "stderr" in error ? String(error.stderr) : "";
  return output.trim().split("\n").at(-1) || error.message;
}

/** Returns the environment without the service's settings of the user's shell, such as another database. */
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

/** Removes the pid file of a service that has ended, unless it already names another process. */
function removePidFile(path: string, { pid }: ProcessIdentity): void {
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
  timer = setTimeout(
    () => failed.reject(notReady(`it was not ready within ${readyTimeoutMs} ms`, log)),
    readyTimeoutMs,
  );
  void exited.then(({ code, signal }) =>
    failed.reject(notReady(`it exited with ${signal ?? `code ${code}`}`, log)),
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
    // Once the service is ready, a later rejection has no other handler.
    failed.promise.catch(() => undefined);
  }
}

type ServiceUrls = Pick<RunningService, "baseUrl" | "quoteUrl" | "telemetryUrl" | "operatorsUrl">;

function parseReadyLine(line: string): ServiceUrls | undefined {
  let value: Readonly<Record<string, unknown>> | undefined;
  try {
    value = asRecord(JSON.parse(line));
  } catch {
    // Another line of output.
    return undefined;
  }
  const { ready, api, quote, telemetry, console } = value ?? {};
  if (ready !== true || typeof api !== "string" || typeof quote !== "string") return undefined;
  const telemetryUrl = typeof telemetry === "string" ? telemetry : undefined;
  const operatorsUrl = typeof console === "string" ? console : undefined;
  return { baseUrl: api, quoteUrl: quote, telemetryUrl, operatorsUrl };
}

function notReady(reason: string, log: string): SandboxError {
  // The last line that is not a stack frame is usually the error message.
  const lines = readFileSync(log, "utf8").trim().split("\n");
  const last = lines.findLast((line) => /^\S/.test(line)) ?? "the log is empty";
  return new SandboxError(`the service did not start: ${reason}: ${last} (see ${log})`);
}
