/** `npm start`: the sandbox on the command line. Everything it does is in the library; this prints and ends it. */
import { HELP, parseCommandLine } from "./command-line.ts";
import { runDemo } from "./demo.ts";
import { SandboxError } from "./errors.ts";
import { formatGuide } from "./guide.ts";
import { type Sandbox, startSandbox } from "./sandbox.ts";
import { statePaths } from "./state-paths.ts";

/** Milliseconds since this process started, before every line that tells a step. */
function printStep(step: string, text: string): void {
  const elapsed = `${Math.round(performance.now())} ms`;
  console.log(`${elapsed.padStart(9)}  ${step.padEnd(15)}  ${text}`);
}

async function run(stopping: AbortController, args: readonly string[]): Promise<void> {
  const command = parseCommandLine(args);
  if (command.kind === "help") {
    process.stdout.write(HELP);
    return;
  }
  const { signal } = stopping;
  const sandbox = await startSandbox({
    ...command.options,
    signal,
    onStep: printStep,
    onFailure: (failure) => stopping.abort(failure),
  });
  try {
    await play(sandbox, signal);
    if (command.exitAfterDemo) return;
    console.log(formatGuide(sandbox.descriptor, statePaths(sandbox.stateDir).descriptor));
    console.log(
      "\nCtrl-C stops everything. Starting again goes on from here; --fresh begins anew.",
    );
    await untilAborted(signal);
  } finally {
    await stopAndTell(sandbox);
  }
}

async function play(sandbox: Sandbox, signal: AbortSignal): Promise<void> {
  const { descriptor, deployment, resumed } = sandbox;
  const result = await runDemo({
    descriptor,
    factory: deployment.factory,
    signal,
    amount: resumed ? "5" : "25",
    onStep: printStep,
  });
  printStep("done", `${Math.round(result.elapsedMs)} ms from payment to delivery`);
}

async function untilAborted(signal: AbortSignal): Promise<never> {
  // A pending promise alone keeps no process alive.
  const alive = setInterval(() => undefined, 60_000);
  try {
    return await new Promise<never>((_resolve, reject) => {
      const end = () => reject(signal.reason);
      if (signal.aborted) end();
      else signal.addEventListener("abort", end, { once: true });
    });
  } finally {
    clearInterval(alive);
  }
}

async function stopAndTell(sandbox: Sandbox): Promise<void> {
  await sandbox.stop();
  printStep("stopped", "nothing is left running");
}

/** Ends the run; a second signal ends the launcher at once and leaves the rest to the next start. */
function stopOnSignals(stopping: AbortController): void {
  for (const name of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
    process.on(name, () => {
      if (stopping.signal.aborted) process.exit(1);
      stopping.abort(STOPPED);
    });
  }
}

/**
 * npm does not hand every signal on: a launcher whose npm was ended is told by nobody. It notices that its parent is
 * another one and ends as if it had been asked to.
 */
function stopWithNpm(stopping: AbortController): void {
  if (process.env["npm_lifecycle_event"] === undefined) return;
  const parent = process.ppid;
  const timer = setInterval(() => {
    if (process.ppid !== parent) stopping.abort(STOPPED);
  }, 250);
  timer.unref();
}

/** A reader of the output that went away (a closed terminal, `| head`) is no reason to leave processes behind. */
function surviveClosedOutput(stopping: AbortController): void {
  for (const stream of [process.stdout, process.stderr]) {
    stream.on("error", () => stopping.abort(STOPPED));
  }
}

/** The reason of a run that was asked to end, which is no failure. */
const STOPPED = new SandboxError("stopped");

const stopping = new AbortController();
stopOnSignals(stopping);
stopWithNpm(stopping);
surviveClosedOutput(stopping);
try {
  await run(stopping, process.argv.slice(2));
} catch (error) {
  const reason = stopping.signal.aborted ? stopping.signal.reason : error;
  if (reason !== STOPPED) {
    console.error(reason instanceof SandboxError ? `sandbox: ${reason.message}` : reason);
    process.exitCode = 1;
  }
}
