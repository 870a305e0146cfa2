/** The process of `startCommands`: runs the commands that its parent sends, one after another. */
import { Readable } from "node:stream";
import { setTimeout } from "node:timers/promises";
import { runProgram } from "../../src/cli/program.ts";
import type { Ended, Given } from "./commands.ts";

const REST_MS = 10_000;

/** The end of a command that would end the process. */
class Exit extends Error {
  readonly code: number;
  constructor(code: number) {
    super(`exit ${code}`);
    this.code = code;
  }
}

process.exit = (code) => {
  throw new Exit(Number(code ?? process.exitCode ?? 0));
};

/** Counts what keeps a process running, by kind. */
function countOpen(): Map<string, number> {
  const counts = new Map<string, number>();
  for (const kind of process.getActiveResourcesInfo()) {
    counts.set(kind, (counts.get(kind) ?? 0) + 1);
  }
  return counts;
}

/** Lists what a command left open: its own process would not have ended. */
async function listLeft(before: ReadonlyMap<string, number>): Promise<readonly string[]> {
  const deadline = performance.now() + REST_MS;
  for (;;) {
    const left = [...countOpen()].filter(([kind, count]) => count > (before.get(kind) ?? 0));
    if (left.length === 0 || performance.now() > deadline) return left.map(([kind]) => kind);
    await setTimeout(5, undefined, { ref: false });
  }
}

async function run({ args, cwd, env, input }: Given): Promise<Ended> {
  process.chdir(cwd);
  for (const name of Object.keys(process.env)) delete process.env[name];
  Object.assign(process.env, env);
  Object.defineProperty(process, "stdin", { value: Readable.from([input]), configurable: true });
  process.exitCode = undefined;
  const before = countOpen();
  try {
    await runProgram(args);
    const code = Number(process.exitCode ?? 0);
    return { code, left: await listLeft(before) };
  } catch (error) {
    if (!(error instanceof Exit)) throw error;
    return { code: error.code, left: [] };
  } finally {
    process.exitCode = undefined;
  }
}

process.on("message", (given: Given) => {
  void run(given).then((ended) => process.send?.(ended));
});
