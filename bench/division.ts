/** Runs the service of a sandbox as several processes on one database, each with some of the roles. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import type { Sandbox } from "@sluice/sandbox";

/** One process of the service, as the benchmarks observe it. */
export interface Observed {
  readonly telemetryUrl: string;
  /** Where it counts its statements. */
  readonly statementsPath: string;
}

export interface Division {
  readonly parts: readonly Observed[];
  stop(): Promise<void>;
}

const SERVICE_MAIN = createRequire(import.meta.url).resolve("@sluice/service/main");
/** Roles of each process, by their number. The API is in the first one. */
const DIVISIONS: Readonly<Record<number, readonly string[]>> = {
  2: ["api,quoter,webhooks,auditor,scanner,attestor", "settler"],
  4: ["api,quoter,webhooks,auditor", "scanner", "attestor", "settler"],
};

/** Replaces the service of a sandbox by as many processes. */
export async function divide(
  sandbox: Sandbox,
  {
    processes,
    env,
  }: {
    readonly processes: number;
    /** Returns additions to the environment of a process, which counts its statements in a file. */
    readonly env: (statementsPath: string) => Readonly<Record<string, string>>;
  },
): Promise<Division> {
  const division = DIVISIONS[processes];
  if (!division) throw new Error(`--processes: expected 1, ${Object.keys(DIVISIONS).join(", ")}`);
  await sandbox.service.stop();
  const children: ChildProcess[] = [];
  const parts: Observed[] = [];
  for (const [place, roles] of division.entries()) {
    const statementsPath = join(sandbox.stateDir, `statements-${place}.json`);
    const config = place === 0 ? sandbox.configPath : writeConfig(sandbox.configPath, place);
    const child = spawn(
      process.execPath,
      [SERVICE_MAIN, "serve", "--config", config, "--roles", roles],
      {
        stdio: ["ignore", "pipe", "ignore"],
        env: { ...process.env, ...env(statementsPath) },
      },
    );
    children.push(child);
    parts.push({ telemetryUrl: await untilReady(child), statementsPath });
  }
  return {
    parts,
    async stop() {
      const ended = children.map((child) => once(child, "exit"));
      for (const child of children) child.kill();
      await Promise.all(ended);
    },
  };
}

/** Writes the configuration of a further process, with free ports. */
function writeConfig(configPath: string, place: number): string {
  const config = JSON.parse(readFileSync(configPath, "utf8"));
  for (const name of ["api", "quote", "telemetry"]) config[name].port = 0;
  delete config.console;
  const path = join(dirname(configPath), `service-${place}.json`);
  writeFileSync(path, JSON.stringify(config), { mode: 0o600 });
  return path;
}

/** Returns the address of a process's metrics once it is ready. */
async function untilReady(child: ChildProcess): Promise<string> {
  if (!child.stdout) throw new Error("the service has no output");
  for await (const line of createInterface({ input: child.stdout })) {
    const { ready, telemetry } = JSON.parse(line);
    if (ready === true) return String(telemetry);
  }
  throw new Error(`the service did not start: exit code ${child.exitCode}`);
}
