/**
 * `npm test`: checks, units, contracts and one story per capability. `npm run test:deep`: the rest, files named
 * `*.deep.test.ts`, and the contracts with as many fuzz cases as `foundry.toml` says. Tests of TypeScript run beside the other
 * steps, because stories mostly wait. At the end stand the CPU time, which other work on the machine changes little, the
 * longest steps and files, the failures with the first line of each error and, on the last line, the count of all.
 * Without a Chromium on the machine the browser's tests do not run, and the end says so. Names of files behind the
 * command run only the tests of TypeScript in them.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { parseArgs, stripVTControlCharacters } from "node:util";
import { startVitest, type TestModule } from "vitest/node";
import { findChromium } from "../packages/service/test/support/chromium.ts";

interface Outcome {
  readonly passed: number;
  /** One line for each failure: its name and the first line of its error. */
  readonly failures: readonly string[];
}

const { values, positionals: files } = parseArgs({
  allowPositionals: true,
  options: { deep: { type: "boolean", default: false } },
});
const root = join(import.meta.dirname, "..");
const scratch = mkdtempSync(join(tmpdir(), "sluice-test-"));
const LONGEST = 10;
const FAILURES_SHOWN = 20;
/** What ran, and for how long. */
const durations: { readonly name: string; readonly ms: number }[] = [];

/** Returns the first line of an error that says something, without colours. */
function firstLineOf(error: string): string {
  const lines = stripVTControlCharacters(error).split("\n");
  return lines.map((line) => line.trim()).find((line) => line !== "") ?? "no message";
}

const STAT = "/proc/self/stat";
/** Ticks of a second in `STAT`, the same on every Linux. */
const TICKS = 100;

/** Describes the CPU time of this process and of all those below it that ended; empty where there is no Linux. */
function describeCpu(): string {
  if (!existsSync(STAT)) return "";
  // Behind the name, which may have spaces: 11 other fields, then user and system time, own and of children.
  const fields = readFileSync(STAT, "utf8")
    .replace(/^.*\) /s, "")
    .split(" ")
    .slice(11, 15);
  const ticks = fields.reduce((sum, field) => sum + Number(field), 0);
  return `, with ${Math.round(ticks / TICKS)} s of CPU`;
}

/** Runs a command to its end beside others, and keeps what it says. */
async function run(
  name: string,
  command: string,
  args: readonly string[],
  variables: Readonly<Record<string, string>> = {},
) {
  const startedAt = performance.now();
  const env = { ...process.env, ...variables };
  const child = spawn(command, args, { cwd: root, env, stdio: ["ignore", "pipe", "pipe"] });
  const [stdout, stderr, [status]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, "close"),
  ]);
  durations.push({ name, ms: performance.now() - startedAt });
  return { stdout, stderr, isOk: status === 0 };
}

async function checks(): Promise<Outcome> {
  const steps: readonly [string, string, readonly string[]][] = [
    ["format", "oxfmt", ["--check"]],
    ["lint", "oxlint", ["--deny-warnings"]],
    // One thread: others would check the types of the libraries again.
    ["types", "tsc", ["--noEmit", "--checkers", "1"]],
    ["types of pages", "tsc", ["--noEmit", "--checkers", "1", "-p", "packages/web"]],
    ["generated files", "node", ["packages/contracts/scripts/generate.ts", "--check"]],
    ["interface", "node", ["scripts/write-interface.ts", "--check"]],
    ["presets", "node", ["scripts/write-presets.ts", "--check"]],
    ["scenarios", "node", ["scripts/write-scenarios.ts", "--check"]],
    ["tutorial", "node", ["scripts/write-tutorial.ts", "--check"]],
    ["requests", "node", ["scripts/write-rpc.ts", "--check"]],
    ["command line", "node", ["scripts/write-command-line.ts", "--check"]],
    ["configuration", "node", ["scripts/write-configuration.ts", "--check"]],
  ];
  const failures: string[] = [];
  for (const [name, command, args] of steps) {
    const { stdout, stderr, isOk } = await run(name, command, args);
    if (isOk) continue;
    failures.push(`${name}: ${firstLineOf(`${stderr}${stdout}`)}`);
    console.error(`\n== FAILED ${name}\n${stdout}${stderr}`);
  }
  return { passed: steps.length - failures.length, failures };
}

/**
 * Cases of each fuzz test and runs of each invariant in `npm test`; `foundry.toml` has 500 and 512. Tests that run so
 * few need no optimizer, which is most of the compiler's work; the contracts themselves are the released bytes. A build
 * of its own, since the long runs of `npm run test:deep` are a third faster with it.
 */
const QUICK_FORGE = {
  FOUNDRY_FUZZ_RUNS: "100",
  FOUNDRY_INVARIANT_RUNS: "8",
  FOUNDRY_DYNAMIC_TEST_LINKING: "true",
  LIGHT_TESTS: "1",
  // The sandbox's token is compiled with the tests, and costs more.
  FOUNDRY_GAS_SNAPSHOT_EMIT: "false",
  FOUNDRY_OUT: "out/quick",
  FOUNDRY_CACHE_PATH: "cache/quick",
};

/**
 * A quarter of the games of `foundry.toml`, which take as long as all stories: 16,384 calls per law. Gas that differs from the
 * snapshots in `vectors/gas` fails, since fees and bounds are computed from them.
 */
const DEEP_FORGE = { FOUNDRY_INVARIANT_RUNS: "128", FOUNDRY_GAS_SNAPSHOT_CHECK: "true" };

async function contracts(): Promise<Outcome> {
  // One thread: the rest of the machine is for the stories, whose clocks run.
  const args = ["packages/contracts/scripts/forge.ts", "test", "--json", "--threads", "1"];
  const { stdout, stderr, isOk } = await run(
    "contracts",
    "node",
    args,
    values.deep ? DEEP_FORGE : QUICK_FORGE,
  );
  const json = stdout.slice(stdout.indexOf("{"));
  let suites: Record<string, { test_results: Record<string, { status: string; reason?: string }> }>;
  try {
    suites = JSON.parse(json);
  } catch {
    console.error(`\n== FAILED contracts\n${stdout.slice(-4000)}${stderr.slice(-4000)}`);
    return { passed: 0, failures: [`contracts: ${firstLineOf(`${stderr}${stdout}`)}`] };
  }
  const results = Object.entries(suites).flatMap(([suite, { test_results: tests }]) =>
    Object.entries(tests).map(([name, result]) => ({ suite, name, ...result })),
  );
  const failures = results
    .filter(({ status }) => status !== "Success")
    .map((test) => `contracts: ${test.suite} ${test.name}: ${test.reason ?? test.status}`);
  for (const failure of failures) console.error(`\n== FAILED ${failure}`);
  const passed = results.length - failures.length;
  if (failures.length === 0 && !isOk) failures.push(`contracts: ${firstLineOf(stderr)}`);
  return { passed, failures };
}

async function typescript(projects: string[]): Promise<Outcome> {
  // Stories start some hundred processes of the service, and each would compile it again.
  process.env["NODE_COMPILE_CACHE"] = join(scratch, "compiled");
  const vitest = await startVitest(files, { project: projects, run: true, watch: false });
  const modules = vitest.state.getTestModules();
  for (const module of modules) {
    const { collectDuration, duration } = module.diagnostic();
    durations.push({ name: module.relativeModuleId, ms: collectDuration + duration });
  }
  const tests = modules.flatMap((module) => Array.from(module.children.allTests()));
  const passed = tests.filter((test) => test.result().state === "passed").length;
  const failures = [
    ...modules.flatMap(failuresOf),
    ...vitest.state.getUnhandledErrors().map((error) => `unhandled: ${messageOf(error)}`),
  ];
  await vitest.close();
  return { passed, failures: tests.length === 0 ? [...failures, "no test ran"] : failures };
}

/** Returns the first line of an error's message, and of each of its causes: a property's own says only that it failed. */
function messageOf(error: unknown): string {
  const isObject = typeof error === "object" && error !== null;
  const message = firstLineOf(String(isObject && "message" in error ? error.message : error));
  const hasCause = isObject && "cause" in error && error.cause !== undefined;
  return hasCause ? `${message}: ${messageOf(error.cause)}` : message;
}

/** Lists the tests of a file that did not pass, skipped ones too, or else its errors outside of tests. */
function failuresOf(module: TestModule): string[] {
  const suites = [module, ...module.children.allSuites()];
  const [outside] = suites.flatMap((suite) => suite.errors());
  const failures = Array.from(module.children.allTests()).flatMap((test) => {
    const { state, errors } = test.result();
    if (state === "passed") return [];
    const error = errors?.[0] ?? outside;
    const cause = error === undefined ? state : messageOf(error);
    return [`${module.relativeModuleId}: ${test.fullName}: ${cause}`];
  });
  if (module.ok() || failures.length > 0) return failures;
  return [`${module.relativeModuleId}: ${outside === undefined ? "failed" : messageOf(outside)}`];
}

const together = (outcomes: readonly Outcome[]): Outcome => ({
  passed: outcomes.reduce((total, { passed }) => total + passed, 0),
  failures: outcomes.flatMap(({ failures }) => failures),
});

async function inTurn(steps: readonly (() => Promise<Outcome>)[]): Promise<Outcome> {
  const outcomes: Outcome[] = [];
  for (const step of steps) outcomes.push(await step());
  return together(outcomes);
}

const startedAt = performance.now();
const hasBrowser = findChromium() !== null;
/** Beside the tests of TypeScript, one after another: they only compute. */
const others: readonly (() => Promise<Outcome>)[] =
  files.length > 0 ? [] : values.deep ? [contracts] : [contracts, checks];
const outcomes = await Promise.all([
  typescript(values.deep ? ["deep"] : ["stories", "unit", "tidy"]),
  inTurn(others),
]);
rmSync(scratch, { recursive: true, force: true });
const { passed, failures } = together(outcomes);
const seconds = Math.round((performance.now() - startedAt) / 1000);
console.log(`\nLongest of ${seconds} s${describeCpu()}:`);
for (const { name, ms } of durations
  .toSorted((one, other) => other.ms - one.ms)
  .slice(0, LONGEST)) {
  console.log(`${(ms / 1000).toFixed(1).padStart(7)} s  ${name}`);
}
if (values.deep && !hasBrowser) {
  console.log("\nNo Chromium on PATH or in CHROMIUM: the browser's tests did not run.");
}
console.log();
for (const failure of failures.slice(0, FAILURES_SHOWN)) console.log(`FAILED ${failure}`);
if (failures.length > FAILURES_SHOWN) {
  console.log(`FAILED and ${failures.length - FAILURES_SHOWN} more, above`);
}
console.log(`${passed} passed, ${failures.length} failed`);
process.exit(failures.length === 0 ? 0 : 1);
