/**
 * Mutation testing of the code that money depends on: plants one mutant at a time and expects a test to fail. Writes
 * docs/mutation.json and, from it, docs/mutation.md. Fails if an area's score is below the minimum, or if a mutant listed
 * as equivalent is caught or no longer exists. Arguments select areas by name.
 */
import { Stryker } from "@stryker-mutator/core";
import { readFileSync, writeFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join, relative } from "node:path";
import { startTestServer } from "../../packages/service/test/support/global-setup.ts";
import { type Area, AREAS, EQUIVALENTS, SOURCE } from "./areas.ts";
import { type FileScore, formatReport, scoreOf, SCORE_MIN, type Survivor } from "./report.ts";

const root = join(import.meta.dirname, "../..");
const jsonPath = join(root, "docs/mutation.json");

type Outcome = Awaited<ReturnType<Stryker["runMutationTest"]>>[number];

/** Runs the tests of an area on each of its mutants. */
async function run(area: Area): Promise<readonly Outcome[]> {
  process.env["MUTATION_TESTS"] = area.tests.map((path) => `${SOURCE}/${path}`).join(",");
  const stryker = new Stryker({
    mutate: area.files.map((path) => `${SOURCE}/${path}`),
    testRunner: "vitest",
    vitest: { configFile: "scripts/mutation/vitest.config.ts", related: false },
    plugins: ["@stryker-mutator/vitest-runner", "./scripts/mutation/prose.ts"],
    ignorers: ["prose"],
    ignorePatterns: [".sluice", "packages/contracts/out", "packages/contracts/cache"],
    // Stryker would rewrite tsconfig.json for its copy of the tree, with a compiler API that TypeScript 7 lacks.
    tsconfigFile: "none",
    reporters: ["progress-append-only"],
    tempDirName: ".stryker-tmp",
    concurrency: Math.min(2, availableParallelism()),
    timeoutMS: area.timeoutMs ?? 10_000,
    allowConsoleColors: false,
    allowEmpty: true,
  });
  return stryker.runMutationTest();
}

/** Counts the mutants of one file. Mutants that cannot run are ignored. */
function count(area: Area, path: string, outcomes: readonly Outcome[]): FileScore {
  const file = `${SOURCE}/${path}`;
  const lines = readFileSync(join(root, file), "utf8").split("\n");
  const own = outcomes.filter(({ fileName }) => relative(root, fileName) === file);
  const alive = own.filter(({ status }) => status === "Survived" || status === "NoCoverage");
  const survivors = alive.map(({ location, mutatorName, replacement }): Survivor => {
    const line = (lines[location.start.line - 1] ?? "").trim();
    const known = EQUIVALENTS.find(
      (one) =>
        one.file === path &&
        one.line === line &&
        one.mutator === mutatorName &&
        one.replacement === replacement,
    );
    return {
      at: `${location.start.line}:${location.start.column}`,
      line,
      mutator: mutatorName,
      replacement,
      ...(known ? { equivalent: known.why } : {}),
    };
  });
  const caught = own.filter(({ status }) => status === "Killed" || status === "Timeout").length;
  return { area: area.name, file: path, caught, survivors };
}

/** Prints mutants whose tests timed out. They count as caught, but on a busy machine the tests may only have been slow. */
function printTimeouts(outcomes: readonly Outcome[]): void {
  for (const { status, fileName, location, replacement } of outcomes) {
    if (status !== "Timeout") continue;
    const { line, column } = location.start;
    console.log(`timed out: ${relative(root, fileName)}:${line}:${column} ${replacement ?? ""}`);
  }
}

/** Returns the entries of the list of equivalents that match no surviving mutant. */
function listStale(scores: readonly FileScore[]): string[] {
  return EQUIVALENTS.filter(({ file, line, mutator, replacement }) => {
    const score = scores.find((one) => one.file === file);
    return (
      score &&
      !score.survivors.some(
        (one) => one.line === line && one.mutator === mutator && one.replacement === replacement,
      )
    );
  }).map(({ file, line, replacement }) => `${file}: "${line}" -> "${replacement}"`);
}

/** Writes the report. Areas that were not run keep their last scores. */
function writeReport(fresh: readonly FileScore[]): void {
  const before: readonly FileScore[] = JSON.parse(readFileSync(jsonPath, "utf8"));
  const all = [...fresh, ...before];
  const scores = AREAS.flatMap(({ name, files }) =>
    files.flatMap((file) => all.find((one) => one.area === name && one.file === file) ?? []),
  );
  writeFileSync(jsonPath, `${JSON.stringify(scores, null, 2)}\n`);
  writeFileSync(join(root, "docs/mutation.md"), formatReport(scores));
}

const selected = process.argv.slice(2);
const unknown = selected.filter((name) => !AREAS.some((area) => area.name === name));
if (unknown.length > 0) {
  const names = AREAS.map(({ name }) => name).join(", ");
  throw new Error(`unknown area ${unknown.join(", ")}: expected ${names}`);
}
const areas = AREAS.filter(({ name }) => selected.length === 0 || selected.includes(name));

const server = await startTestServer();
process.env["MUTATION_DATABASE"] = server.socketDir;
const fresh: FileScore[] = [];
try {
  for (const area of areas) {
    console.log(`\n== ${area.name}`);
    const outcomes = await run(area);
    fresh.push(...area.files.map((file) => count(area, file, outcomes)));
    printTimeouts(outcomes);
    writeReport(fresh);
  }
} finally {
  await server.stop();
}

const low = areas.filter(
  ({ name }) => scoreOf(fresh.filter(({ area }) => area === name)) < SCORE_MIN,
);
for (const { name } of low) console.error(`${name}: score is below ${SCORE_MIN} %`);
const stale = listStale(fresh);
for (const entry of stale)
  console.error(`listed as equivalent, but no such mutant survives: ${entry}`);
console.log(`\n${scoreOf(fresh).toFixed(1)} % caught, see docs/mutation.md`);
process.exit(low.length + stale.length === 0 ? 0 : 1);
