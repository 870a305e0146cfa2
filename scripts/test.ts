/**
 * `npm test`: checks, units, contracts and one story per capability. `npm run test:deep`: the rest, files named
 * `*.deep.test.ts`, and the contracts with as many cases as `foundry.toml` says. Tests of TypeScript run beside the other
 * steps, because stories mostly wait. At the end stand the longest steps and files and, on the last line, the count of
 * all. Without a Chromium on the machine the browser's tests do not run, and the end says so. Names of files behind the
 * command run only the tests of TypeScript in them.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { parseArgs } from "node:util";
import { startVitest } from "vitest/node";
import { findChromium } from "../packages/service/test/support/chromium.ts";

interface Count {
  readonly passed: number;
  readonly failed: number;
}

const { values, positionals: files } = parseArgs({
  allowPositionals: true,
  options: { deep: { type: "boolean", default: false } },
});
const root = join(import.meta.dirname, "..");
const scratch = mkdtempSync(join(tmpdir(), "sluice-test-"));
const LONGEST = 10;
/** What ran, and for how long. */
const durations: { readonly name: string; readonly ms: number }[] = [];

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

async function checks(): Promise<Count> {
  const steps: readonly [string, string, readonly string[]][] = [
    ["format", "prettier", ["--check", "--log-level", "warn", "."]],
    ["lint", "oxlint", ["--deny-warnings"]],
    ["types", "tsc", ["--noEmit"]],
    ["generated files", "node", ["packages/contracts/scripts/generate.ts", "--check"]],
    ["interface", "node", ["scripts/write-interface.ts", "--check"]],
    ["presets", "node", ["scripts/write-presets.ts", "--check"]],
    ["command line", "node", ["scripts/write-command-line.ts", "--check"]],
    ["configuration", "node", ["scripts/write-configuration.ts", "--check"]],
  ];
  let failed = 0;
  for (const [name, command, args] of steps) {
    const { stdout, stderr, isOk } = await run(name, command, args);
    if (isOk) continue;
    failed += 1;
    console.error(`\n== FAILED ${name}\n${stdout}${stderr}`);
  }
  return { passed: steps.length - failed, failed };
}

/** Cases of each fuzz test and runs of each invariant in `npm test`; `foundry.toml` has 500 and 512. */
const QUICK_FORGE = { FOUNDRY_FUZZ_RUNS: "100", FOUNDRY_INVARIANT_RUNS: "32" };

async function contracts(): Promise<Count> {
  // One thread: the rest of the machine is for the stories, whose clocks run.
  const args = ["packages/contracts/scripts/forge.ts", "test", "--json", "--threads", "1"];
  const { stdout, stderr, isOk } = await run(
    "contracts",
    "node",
    args,
    values.deep ? {} : QUICK_FORGE,
  );
  const json = stdout.slice(stdout.indexOf("{"));
  let suites: Record<string, { test_results: Record<string, { status: string; reason?: string }> }>;
  try {
    suites = JSON.parse(json);
  } catch {
    console.error(`\n== FAILED contracts\n${stdout.slice(-4000)}${stderr.slice(-4000)}`);
    return { passed: 0, failed: 1 };
  }
  const results = Object.entries(suites).flatMap(([suite, { test_results: tests }]) =>
    Object.entries(tests).map(([name, result]) => ({ suite, name, ...result })),
  );
  const failures = results.filter(({ status }) => status !== "Success");
  for (const { suite, name, reason, status } of failures) {
    console.error(`\n== FAILED contracts: ${suite} ${name}: ${reason ?? status}`);
  }
  const failed = failures.length === 0 && !isOk ? 1 : failures.length;
  return { passed: results.length - failures.length, failed };
}

async function typescript(projects: string[]): Promise<Count> {
  // Stories start some hundred processes of the service, and each would compile it again.
  process.env["NODE_COMPILE_CACHE"] = join(scratch, "compiled");
  const vitest = await startVitest(files, { project: projects, run: true, watch: false });
  const modules = vitest.state.getTestModules();
  for (const module of modules) {
    const { collectDuration, duration } = module.diagnostic();
    durations.push({ name: module.relativeModuleId, ms: collectDuration + duration });
  }
  const states = modules.flatMap((module) => {
    const tests = Array.from(module.children.allTests(), (test) => test.result().state);
    // A file that failed outside of its tests, as by an import.
    return module.ok() || tests.includes("failed") ? tests : [...tests, "failed"];
  });
  const errors = vitest.state.getUnhandledErrors().length;
  await vitest.close();
  const passed = states.filter((state) => state === "passed").length;
  const failed = states.length - passed + errors;
  return { passed, failed: states.length === 0 ? 1 : failed };
}

const sum = (counts: readonly Count[]): Count => ({
  passed: counts.reduce((total, { passed }) => total + passed, 0),
  failed: counts.reduce((total, { failed }) => total + failed, 0),
});

async function inTurn(steps: readonly (() => Promise<Count>)[]): Promise<Count> {
  const counts: Count[] = [];
  for (const step of steps) counts.push(await step());
  return sum(counts);
}

const startedAt = performance.now();
const hasBrowser = findChromium() !== null;
/** Beside the tests of TypeScript, one after another: they only compute. */
const others: readonly (() => Promise<Count>)[] =
  files.length > 0 ? [] : values.deep ? [contracts] : [contracts, checks];
const counts = await Promise.all([
  typescript(values.deep ? ["deep"] : ["stories", "unit", "tidy"]),
  inTurn(others),
]);
rmSync(scratch, { recursive: true, force: true });
const { passed, failed } = sum(counts);
console.log(`\nLongest of ${Math.round((performance.now() - startedAt) / 1000)} s:`);
for (const { name, ms } of durations
  .toSorted((one, other) => other.ms - one.ms)
  .slice(0, LONGEST)) {
  console.log(`${(ms / 1000).toFixed(1).padStart(7)} s  ${name}`);
}
if (values.deep && !hasBrowser) {
  console.log("\nNo Chromium on PATH or in CHROMIUM: the browser's tests did not run.");
}
console.log(`\n${passed} passed, ${failed} failed`);
process.exit(failed === 0 ? 0 : 1);
