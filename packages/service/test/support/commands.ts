/** Commands of the program for tests: each in a process of its own, or many in one. */
import { execFile, fork } from "node:child_process";
import { once } from "node:events";
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PROGRAM } from "./command-line.ts";

/** Node's compile cache, if one is set: it halves the program's start time. */
const COMPILED = { NODE_COMPILE_CACHE: process.env["NODE_COMPILE_CACHE"] ?? "" };

export interface Given {
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  /** The standard input. */
  readonly input: string;
}

export interface Outcome {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** The end of a command in a process that goes on. */
export interface Ended {
  readonly code: number;
  /** Kinds of resources that would have kept its process running. */
  readonly left: readonly string[];
}

/** Runs a command as a user does. */
export function runCommand({ args, cwd, env, input }: Given): Promise<Outcome> {
  return new Promise((resolve) => {
    const child = execFile(
      process.execPath,
      [PROGRAM, ...args],
      { cwd, env: { ...COMPILED, ...env } },
      (error, stdout, stderr) => resolve({ code: error ? Number(error.code) : 0, stdout, stderr }),
    );
    child.stdin?.end(input);
  });
}

export interface Commands {
  /** Runs a command after those before it. Fails if the command would not have let its process end. */
  run(given: Given): Promise<Outcome>;
  stop(): Promise<void>;
}

/**
 * Starts a process that runs any number of commands, since loading the program takes longer than most of them. Folder,
 * environment, input, output and exit code are those of each command.
 */
export function startCommands(): Commands {
  const folder = mkdtempSync(join(tmpdir(), "sluice-commands-"));
  // Files, because a process writes to them at once.
  const paths = [join(folder, "stdout"), join(folder, "stderr")] as const;
  const [out, err] = paths.map((path) => openSync(path, "a"));
  const child = fork(join(import.meta.dirname, "command-loop.ts"), [], {
    env: COMPILED,
    execArgv: [],
    stdio: ["ignore", out, err, "ipc"],
  });
  for (const file of [out, err]) if (file !== undefined) closeSync(file);
  const read = () => paths.map((path) => readFileSync(path, "utf8")) as [string, string];
  const gone = once(child, "exit");
  let last: Promise<unknown> = Promise.resolve();

  async function runNext({ args, ...given }: Given): Promise<Outcome> {
    const [stdout, stderr] = read();
    child.send({ ...given, args });
    const answer = await Promise.race([once(child, "message"), gone.then(() => null)]);
    const [outNow, errNow] = read();
    const written = { stdout: outNow.slice(stdout.length), stderr: errNow.slice(stderr.length) };
    if (!answer) throw new Error(`the process ended: ${written.stderr}`);
    const { code, left }: Ended = answer[0];
    if (left.length > 0) throw new Error(`${args.join(" ")} left open: ${left.join(", ")}`);
    return { code, ...written };
  }

  return {
    run(given) {
      const outcome = last.then(() => runNext(given));
      last = outcome.catch(() => undefined);
      return outcome;
    },
    async stop() {
      child.disconnect();
      await gone;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
