/** The commands of the sandbox. The library does the work; this file prints and handles signals. */
import { createSluiceClient } from "@sluice/sdk";
import { parseUnits } from "viem";
import { parseCommandLine } from "./command-line.ts";
import { demoQuoteRequest, type DemoResult, runDemo } from "./demo.ts";
import { describeFileError, SandboxError } from "./errors.ts";
import { formatGuide, type GuideOutput } from "./guide.ts";
import { runPayment } from "./pay/payment.ts";
import { findRunningSandbox } from "./pay/running-sandbox.ts";
import { type Sandbox, startSandbox } from "./sandbox.ts";
import { playRemote } from "./scenarios/remote.ts";
import { writeJson } from "./json-file.ts";
import { runServiceCommand } from "./service.ts";
import { statePaths } from "./state-paths.ts";

/** Time without a line after which one says that the run goes on, in milliseconds. */
const SILENCE_MS = 3_000;

/** Work that follows a step and may take long. */
const WORK_AFTER: Readonly<Record<string, string>> = {
  "starting chains": "starting the nodes and deploying the contracts",
  "starting service": "creating the database and starting the service",
  service: "creating the integrators and their API keys",
  integrators: "requesting a quote and a deposit address",
  paid: "waiting for the deposit to be found",
};

let lastStep = "";
let printedAt = 0;

/** Prints a step, with the milliseconds since this process started. */
function printStep(step: string, text: string): void {
  printLine(step, text);
  lastStep = step;
}

function printLine(name: string, text: string): void {
  printedAt = performance.now();
  console.log(`${`${Math.round(printedAt)} ms`.padStart(9)}  ${name.padEnd(16)}  ${text}`);
}

/** Prints a line whenever nothing was printed for a while. Returns the function that ends it. */
function reportSilence(): () => void {
  const timer = setInterval(() => {
    if (performance.now() - printedAt < SILENCE_MS) return;
    printLine("...", WORK_AFTER[lastStep] ?? "waiting for the next step");
  }, SILENCE_MS / 10);
  // A run that fails must end.
  timer.unref();
  return () => clearInterval(timer);
}

async function run(stopping: AbortController, args: readonly string[]): Promise<void> {
  const command = parseCommandLine(args);
  if (command.kind === "help") {
    process.stdout.write(command.text);
    return;
  }
  const { signal } = stopping;
  const endReports = reportSilence();
  if (command.kind === "pay") {
    const { stateDir, request } = command;
    const descriptor = findRunningSandbox(stateDir);
    await runPayment({ descriptor, request, signal, onStep: printStep }).finally(endReports);
    return;
  }
  if (command.kind === "play") {
    const { stateDir, name, kind: _, ...options } = command;
    const descriptor = findRunningSandbox(stateDir);
    const { delivered } = await playRemote(descriptor, name, {
      ...options,
      signal,
      onStep: printStep,
    }).finally(endReports);
    printStep("done", `as documented; ${delivered} base units of USDC were delivered`);
    return;
  }
  const sandbox = await startSandbox({
    ...command.options,
    signal,
    onStep: printStep,
    onFailure: (failure) => stopping.abort(failure),
  }).catch((error: unknown) => {
    endReports();
    throw error;
  });
  try {
    const { depositAddress, settlementId } = await playDemo(sandbox, signal).finally(endReports);
    if (command.exitAfterDemo) return;
    const objects = { depositAddress, settlementId, ...(await findIds(sandbox, depositAddress)) };
    const [outputs, operatorLink] = await Promise.all([
      listOutputs(sandbox),
      inviteOperator(sandbox),
    ]);
    const path = statePaths(sandbox.stateDir).descriptor;
    const descriptor = await addPayPage(sandbox, objects.addressId);
    console.log(formatGuide(descriptor, path, { ...objects, outputs, operatorLink }));
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

/** Creates a link to the pay page of the demo's address, and adds it to the descriptor. */
async function addPayPage({ descriptor, stateDir }: Sandbox, depositAddressId: string) {
  const apiKey = descriptor.integrators[0]?.apiKey ?? "";
  const { url: payUrl } = await createSluiceClient({ ...descriptor, apiKey }).createPayLink({
    depositAddressId,
    title: "Demo payment",
  });
  const extended = { ...descriptor, payUrl };
  writeJson(statePaths(stateDir).descriptor, extended);
  return extended;
}

/** Returns a link that signs in to the operators' console, once. */
async function inviteOperator({ configPath }: Sandbox): Promise<string> {
  const invitation = ["operators", "invite", "--name", "sandbox", "--role", "admin"];
  const { url } = await runServiceCommand([...invitation, "--json", "--config", configPath]);
  return String(url);
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

/** Returns the amounts of native coin and tokens with the amount that the demo's address delivers for each, by a quote. */
async function listOutputs({ descriptor }: Sandbox): Promise<readonly GuideOutput[]> {
  const apiKey = descriptor.integrators[0]?.apiKey ?? "";
  const client = createSluiceClient({ ...descriptor, apiKey });
  const { fromChain, fromToken, toChain, ...request } = demoQuoteRequest(descriptor);
  const tokens = descriptor.chains.find(({ name }) => name === fromChain)?.tokens ?? [];
  const samples = tokens.flatMap(({ address, symbol, standard, decimals }) => {
    if (address === fromToken) return [{ symbol, address, amount: "25", decimals }];
    return standard === "native" ? [{ symbol, address, amount: "0.1", decimals }] : [];
  });
  return Promise.all(
    samples.map(async ({ symbol, address, amount, decimals }) => {
      const { quotes } = await client.quote({
        ...request,
        fromChain,
        toChain,
        fromToken: address,
        amountIn64: parseUnits(amount, decimals).toString(),
      });
      const [best] = quotes;
      if (!best) throw new SandboxError(`no quote for ${symbol} of the demo's deposit address`);
      const received = `about ${best.expectedAmountOut} ${best.toToken.symbol} on ${toChain}`;
      return { sent: `${amount} ${symbol} on ${fromChain}`, received };
    }),
  );
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

/** Runs a command until its end, or until a signal. Sets the exit code. */
export async function runProgram(args: readonly string[]): Promise<void> {
  const stopping = new AbortController();
  stopOnSignals(stopping);
  stopWithNpm(stopping);
  stopOnClosedOutput(stopping);
  try {
    await run(stopping, args);
  } catch (error) {
    const reason = describeFileError(stopping.signal.aborted ? stopping.signal.reason : error);
    if (reason !== STOPPED) {
      console.error(reason instanceof SandboxError ? `sandbox: ${reason.message}` : reason);
      process.exitCode = 1;
    }
  }
}
