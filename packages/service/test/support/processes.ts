/** Further processes of the service beside the world's own, by names given in a story. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { text } from "node:stream/consumers";
import { setTimeout as delay } from "node:timers/promises";
import type { RunningService } from "@sluice/sandbox";

const MAIN = join(import.meta.dirname, "../../src/main.ts");

/** Exit of a process, and its standard error. */
export interface Ending {
  readonly code: number | null;
  readonly said: string;
}

interface Running {
  readonly child: ChildProcess;
  readonly said: Promise<string>;
}

export type Processes = ReturnType<typeof createProcesses>;

/** Waits for a service to exit, and returns its signal or code. Throws if it does not exit in time. */
export async function deathOf(
  { exited }: Pick<RunningService, "exited">,
  deadlineMs: number,
): Promise<string> {
  const late = delay(deadlineMs, undefined, { ref: false }).then(() => null);
  const death = await Promise.race([exited, late]);
  if (!death) throw new Error("the service did not die");
  return death.signal ?? `code ${death.code}`;
}

/** Creates the set of processes with their shared configuration and environment; starts none yet. */
export function createProcesses(configPath: string, env: NodeJS.ProcessEnv = {}) {
  const running = new Map<string, Running>();

  const launch = (args: readonly string[]) =>
    spawn(process.execPath, [MAIN, "--config", configPath, ...args], {
      stdio: ["ignore", "pipe", "pipe"],
      env: { ...process.env, ...env },
    });

  async function endOf({ child, said }: Running): Promise<Ending> {
    if (child.exitCode === null && child.signalCode === null) await once(child, "exit");
    return { code: child.exitCode, said: await said };
  }

  /** Starts a command, and returns its output once it is ready. */
  async function start(name: string, ...args: readonly string[]) {
    const child = launch(args);
    const said = text(child.stderr);
    running.set(name, { child, said });
    for await (const line of createInterface({ input: child.stdout })) {
      // CAST: the form of the line that the command prints when it is ready.
      if (line.includes('"ready":true')) return JSON.parse(line) as { readonly quote?: string };
    }
    throw new Error(`${name} ended before it was ready: ${await said}`);
  }

  async function stop(name: string, signal: "SIGKILL" | "SIGTERM"): Promise<void> {
    const one = running.get(name);
    running.delete(name);
    one?.child.kill(signal);
    if (one) await endOf(one);
  }

  return {
    start,
    stop,

    /** Starts a process of a role, or of some, named for it. */
    serve: (role: string, ...args: readonly string[]) =>
      start(role, "serve", "--roles", role, ...args),

    /** Starts a standby of a role; returns once it waits. */
    async standBy(name: string, role: string): Promise<void> {
      const child = launch(["serve", "--roles", role, "--standby"]);
      running.set(name, { child, said: Promise.resolve("") });
      for await (const line of createInterface({ input: child.stderr })) {
        if (line.includes("standby: waiting for the roles")) return;
      }
      throw new Error(`${name} ended before it waited`);
    },

    /** Runs a command to its end. */
    async run(...args: readonly string[]): Promise<Ending> {
      const child = launch(args);
      child.stdout.resume();
      return endOf({ child, said: text(child.stderr) });
    },

    /** Waits until a process has exited by itself. */
    async deathOf(name: string): Promise<Ending> {
      const one = running.get(name);
      if (!one) throw new Error(`${name} was not started`);
      running.delete(name);
      return endOf(one);
    },

    async stopAll(): Promise<void> {
      await Promise.all([...running.keys()].map((name) => stop(name, "SIGTERM")));
    },
  };
}
