/**
 * `npm test`: everything. Checks first, then TypeScript's tests (vitest), which mostly wait, and beside them the
 * contracts' (forge), which only compute; the last line counts them all. Without a Chromium on the machine the browser's
 * tests do not run, and the end says so.
 */
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { findChromium } from "../packages/service/test/support/chromium.ts";

interface Count {
  passed: number;
  failed: number;
}

const root = join(import.meta.dirname, "..");
const scratch = mkdtempSync(join(tmpdir(), "sluice-test-"));

function run(title: string, command: string, args: readonly string[]): number {
  console.log(`\n== ${title}`);
  const result = spawnSync(command, args, { cwd: root, stdio: "inherit" });
  if (result.error) console.error(`${command} could not be started: ${result.error.message}`);
  return result.status ?? 1;
}

function checks(): Count {
  const steps: readonly [string, string, readonly string[]][] = [
    ["format", "prettier", ["--check", "--log-level", "warn", "."]],
    ["lint", "oxlint", ["--deny-warnings"]],
    ["types", "tsc", ["--noEmit"]],
    ["generated files", "node", ["packages/contracts/scripts/generate.ts", "--check"]],
    ["interface", "node", ["scripts/write-interface.ts", "--check"]],
    ["presets", "node", ["scripts/write-presets.ts", "--check"]],
  ];
  const failed = steps.filter(([title, command, args]) => run(title, command, args) !== 0).length;
  return { passed: steps.length - failed, failed };
}

async function contracts(): Promise<Count> {
  // One thread: the rest of the machine is for the stories, whose clocks run.
  const args = ["packages/contracts/scripts/forge.ts", "test", "--json", "--threads", "1"];
  const forge = spawn("node", args, { cwd: root, stdio: ["ignore", "pipe", "pipe"] });
  const [stdout, stderr, [status]] = await Promise.all([
    text(forge.stdout),
    text(forge.stderr),
    once(forge, "close"),
  ]);
  console.log("\n== contracts");
  const json = stdout.slice(stdout.indexOf("{"));
  let suites: Record<string, { test_results: Record<string, { status: string; reason?: string }> }>;
  try {
    suites = JSON.parse(json);
  } catch {
    console.error(stdout.slice(-4000), stderr.slice(-4000));
    return { passed: 0, failed: 1 };
  }
  const count: Count = { passed: 0, failed: 0 };
  for (const [suite, { test_results: tests }] of Object.entries(suites)) {
    for (const [name, { status, reason }] of Object.entries(tests)) {
      if (status === "Success") {
        count.passed += 1;
      } else {
        count.failed += 1;
        console.error(`FAILED ${suite} ${name}: ${reason ?? status}`);
      }
    }
  }
  if (status !== 0 && count.failed === 0) count.failed += 1;
  console.log(`${count.passed} passed, ${count.failed} failed (forge)`);
  return count;
}

async function typescript(): Promise<Count> {
  const report = join(scratch, "vitest.json");
  const projects = ["tidy", "unit", "stories", ...(hasBrowser ? ["browser"] : [])];
  const args = [
    "run",
    ...projects.map((name) => `--project=${name}`),
    "--reporter=default",
    "--reporter=json",
    `--outputFile.json=${report}`,
  ];
  console.log("\n== TypeScript");
  // Stories start some hundred processes of the service, and each would compile it anew.
  const env = { ...process.env, NODE_COMPILE_CACHE: join(scratch, "compiled") };
  const vitest = spawn("vitest", args, { cwd: root, stdio: "inherit", env });
  const [status] = await once(vitest, "close");
  // It was ended before its end.
  if (!existsSync(report)) return { passed: 0, failed: 1 };
  const { numPassedTests, numFailedTests, numPendingTests, success } = JSON.parse(
    readFileSync(report, "utf8"),
  );
  const failed = numFailedTests + numPendingTests;
  return { passed: numPassedTests, failed: failed === 0 && (status || !success) ? 1 : failed };
}

const hasBrowser = findChromium() !== null;
const counts = [checks(), ...(await Promise.all([contracts(), typescript()]))];
rmSync(scratch, { recursive: true, force: true });
const passed = counts.reduce((sum, count) => sum + count.passed, 0);
const failed = counts.reduce((sum, count) => sum + count.failed, 0);
if (!hasBrowser) {
  console.log("\nNo Chromium on PATH or in CHROMIUM: the browser's tests did not run.");
}
console.log(`\n${passed} passed, ${failed} failed`);
process.exit(failed === 0 ? 0 : 1);
