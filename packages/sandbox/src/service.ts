/**
 * Runs the service as a child process. It is detached, so that Ctrl-C reaches only the launcher, which then stops
 * everything in order. A service left over by a killed launcher is stopped before the next one starts.
 */
import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, openSync, readFileSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { createInterface, type Interface } from "node:readline";
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
  await stopLeftoverService(options.stateDir);
  return waitForService(spawnService(options), options);
}

/** A service that has loaded, and does nothing before it is told to. */
export interface PreparedService {
  /**
   * Opens its database and creates integrators, from lines of `sluice integrator import`. The configuration must be written.
   * @returns the objects that it prints, one per line
   */
  createIntegrators(
    lines: readonly string[],
  ): Promise<readonly Readonly<Record<string, unknown>>[]>;
  /** Lets it serve, and waits until it is ready. */
  serve(): Promise<RunningService>;
  /** Ends it. */
  cancel(): Promise<void>;
}

/** Starts a service that loads while its chains do. No service may be left over. */
export function prepareService(options: ServiceOptions): PreparedService {
  const spawned = spawnService(options, ["--prepare"]);
  const { child, exited } = spawned;
  // It may end early; the error comes from where its answer is awaited.
  child.stdin?.on("error", () => undefined);
  return {
    async createIntegrators(lines) {
      child.stdin?.write([...lines, "", ""].join("\n"));
      const printed: string[] = [];
      await waitForLine(spawned, COMMAND_TIMEOUT_MS, (line) => {
        if (line === "") return true;
        printed.push(line);
        return undefined;
      });
      return printed.map((line) => asRecord(JSON.parse(line)) ?? {});
    },
    async serve() {
      child.stdin?.end("\n");
      return waitForService(spawned, options);
    },
    async cancel() {
      child.kill();
      await exited;
    },
  };
}

interface SpawnedService {
  readonly child: ChildProcess;
  readonly pid: number;
  readonly identity: ProcessIdentity;
  readonly lines: Interface;
  readonly log: string;
  readonly exited: Promise<ServiceExit>;
}

function spawnService(options: ServiceOptions, added: readonly string[] = []): SpawnedService {
  const paths = statePaths(options.stateDir);
  const log = openSync(paths.serviceLog, "a", 0o600);
  const config = ["--config", options.configPath ?? paths.serviceConfig];
  const roles = options.roles === undefined ? [] : ["--roles", options.roles];
  const child = spawn(process.execPath, [SERVICE_MAIN, "serve", ...config, ...roles, ...added], {
    detached: true,
    stdio: [added.length > 0 ? "pipe" : "ignore", "pipe", log],
    env: serviceEnvironment(options.env),
  });
  closeSync(log);
  const { pid, stdout } = child;
  if (pid === undefined || !stdout) {
    throw new SandboxError(`${process.execPath} could not be started`);
  }
  const identity = writeProcessFile(paths.servicePid, pid);
  const exited = waitForExit(child);
  void exited.then(() => removePidFile(paths.servicePid, identity));
  const lines = createInterface({ input: stdout });
  return { child, pid, identity, lines, log: paths.serviceLog, exited };
}

async function waitForService(
  spawned: SpawnedService,
  { readyTimeoutMs = 60_000 }: ServiceOptions,
): Promise<RunningService> {
  const { child, pid, identity, exited } = spawned;
  const running = {
    pid,
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
    return { ...running, ...(await waitForLine(spawned, readyTimeoutMs, parseReadyLine)) };
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

const COMMAND_TIMEOUT_MS = 60_000;

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

/** Waits for a line of the service's output. */
async function waitForLine<Result>(
  { lines, exited, log }: SpawnedService,
  timeoutMs: number,
  parse: (line: string) => Result | undefined,
): Promise<Result> {
  const found = Promise.withResolvers<Result>();
  const fail = (reason: string) => found.reject(notReady(reason, log));
  const timer = setTimeout(() => fail(`it was not ready within ${timeoutMs} ms`), timeoutMs);
  const look = (line: string) => {
    const result = parse(line);
    if (result !== undefined) found.resolve(result);
  };
  lines.on("line", look);
  // Once the line is found, this changes nothing.
  void exited.then(({ code, signal }) => fail(`it exited with ${signal ?? `code ${code}`}`));
  try {
    return await found.promise;
  } finally {
    clearTimeout(timer);
    lines.off("line", look);
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
