/** `npm start` and `npm run pay`: the command line of the sandbox. The library does the work; this file prints and handles signals. */
import { createSluiceClient } from "@sluice/sdk";
import { parseCommandLine } from "./command-line.ts";
import { type DemoResult, runDemo } from "./demo.ts";
import { SandboxError } from "./errors.ts";
import { formatGuide } from "./guide.ts";
import { runPayment } from "./pay/payment.ts";
import { findRunningSandbox } from "./pay/running-sandbox.ts";
import { type Sandbox, startSandbox } from "./sandbox.ts";
import { statePaths } from "./state-paths.ts";

/** Prints a step, with the milliseconds since this process started. */
function printStep(step: string, text: string): void {
  const elapsed = `${Math.round(performance.now())} ms`;
  console.log(`${elapsed.padStart(9)}  ${step.padEnd(16)}  ${text}`);
}

async function run(stopping: AbortController, args: readonly string[]): Promise<void> {
  const command = parseCommandLine(args);
  if (command.kind === "help") {
    process.stdout.write(command.text);
    return;
  }
  const { signal } = stopping;
  if (command.kind === "pay") {
    const { stateDir, request } = command;
    const descriptor = findRunningSandbox(stateDir);
    await runPayment({ descriptor, request, signal, onStep: printStep });
    return;
  }
  const sandbox = await startSandbox({
    ...command.options,
    signal,
    onStep: printStep,
    onFailure: (failure) => stopping.abort(failure),
  });
  try {
    const { depositAddress, settlementId } = await playDemo(sandbox, signal);
    if (command.exitAfterDemo) return;
    const objects = { depositAddress, settlementId, ...(await findIds(sandbox, depositAddress)) };
    console.log(formatGuide(sandbox.descriptor, statePaths(sandbox.stateDir).descriptor, objects));
    console.log(
      "\nPress Ctrl-C to stop everything. The next start resumes this state; --fresh deletes it first.",
    );
    await untilAborted(signal);
  } finally {
    await stopSandbox(sandbox);
  }
}

async function playDemo(sandbox: Sandbox, signal: AbortSignal): Promise<DemoResult> {
  const { descriptor, deployment, resumed } = sandbox;
  const result = await runDemo({
    descriptor,
    factory: deployment.factory,
    signal,
    amount: resumed ? "5" : "25",
    onStep: printStep,
  });
  printStep("done", `${Math.round(result.elapsedMs)} ms from payment to delivery`);
  return result;
}

/** Returns the ids of the demo's deposit address and of its newest deposit. */
async function findIds({ descriptor }: Sandbox, walletAddress: string) {
  const apiKey = descriptor.integrators[0]?.apiKey ?? "";
  const client = createSluiceClient({ ...descriptor, apiKey });
  const [deposit] = (await client.listDeposits({ walletAddress, limit: 1 })).items;
  for await (const address of client.iterateDepositAddresses({ limit: 100 })) {
    if (address.walletAddress !== walletAddress || !deposit) continue;
    return { addressId: address.id, depositId: deposit.id };
  }
  throw new Error("the service lists the deposit and the deposit address of the demo");
}

async function untilAborted(signal: AbortSignal): Promise<never> {
  // A pending promise alone does not keep the process alive.
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

async function stopSandbox(sandbox: Sandbox): Promise<void> {
  await sandbox.stop();
  printStep("stopped", "all processes have ended");
}

/** Stops the run on a signal. A second signal exits immediately and leaves the processes to the next start. */
function stopOnSignals(stopping: AbortController): void {
  for (const name of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
    process.on(name, () => {
      if (stopping.signal.aborted) process.exit(1);
      stopping.abort(STOPPED);
    });
  }
}

/**
 * Stops the run when npm has ended. npm does not forward every signal, so the launcher checks whether its parent process
 * has changed.
 */
function stopWithNpm(stopping: AbortController): void {
  if (process.env["npm_lifecycle_event"] === undefined) return;
  const parent = process.ppid;
  const timer = setInterval(() => {
    if (process.ppid !== parent) stopping.abort(STOPPED);
  }, 250);
  timer.unref();
}

/** Stops the run when the output is closed (a closed terminal, `| head`), so that no process is left behind. */
function stopOnClosedOutput(stopping: AbortController): void {
  for (const stream of [process.stdout, process.stderr]) {
    stream.on("error", () => stopping.abort(STOPPED));
  }
}

/** Abort reason of a requested stop, which is not a failure. */
const STOPPED = new SandboxError("stopped");

const stopping = new AbortController();
stopOnSignals(stopping);
stopWithNpm(stopping);
stopOnClosedOutput(stopping);
try {
  await run(stopping, process.argv.slice(2));
} catch (error) {
  const reason = stopping.signal.aborted ? stopping.signal.reason : error;
  if (reason !== STOPPED) {
    console.error(reason instanceof SandboxError ? `sandbox: ${reason.message}` : reason);
    process.exitCode = 1;
  }
}
