/**
 * Mutation testing: small mistakes are planted one by one in the code that money depends on, and its tests must fail.
 * Writes docs/mutation.json and, from it, docs/mutation.md. Fails when an area's score is too low, or when a mutant that
 * was said to be equivalent is caught or is not there any more. Arguments take only the areas of those names.
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

/** Plants every mutant of an area. */
async function run(area: Area): Promise<readonly Outcome[]> {
  process.env["MUTATION_TESTS"] = area.tests.map((path) => `${SOURCE}/${path}`).join(",");
  const stryker = new Stryker({
    mutate: area.files.map((path) => `${SOURCE}/${path}`),
    testRunner: "vitest",
    vitest: { configFile: "scripts/mutation/vitest.config.ts", related: false },
    plugins: ["@stryker-mutator/vitest-runner", "./scripts/mutation/prose.ts"],
    ignorers: ["prose"],
    ignorePatterns: [".sluice", "packages/contracts/out", "packages/contracts/cache"],
    // Stryker would rewrite it for its copy of the tree, with a compiler that has no API for that any more.
    tsconfigFile: "none",
    reporters: ["progress-append-only"],
    tempDirName: ".stryker-tmp",
    concurrency: Math.min(2, availableParallelism()),
    timeoutMS: area.patienceMs ?? 10_000,
    allowConsoleColors: false,
    allowEmpty: true,
  });
  return stryker.runMutationTest();
}

/** Counts one file's mutants; those that do not run at all say nothing and are left out. */
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

/** Names the mutants whose tests never ended, which counts as caught: on a busy machine they may only have been slow. */
function tellNeverEnded(outcomes: readonly Outcome[]): void {
  for (const { status, fileName, location, replacement } of outcomes) {
    if (status !== "Timeout") continue;
    const { line, column } = location.start;
    console.log(`never ended: ${relative(root, fileName)}:${line}:${column} ${replacement ?? ""}`);
  }
}

/** Entries of the list that no longer name a mutant that lives. */
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

/** What was not run now stays as it was last counted. */
function writeReport(fresh: readonly FileScore[]): void {
  const before: readonly FileScore[] = JSON.parse(readFileSync(jsonPath, "utf8"));
  const all = [...fresh, ...before];
  const scores = AREAS.flatMap(({ name, files }) =>
    files.flatMap((file) => all.find((one) => one.area === name && one.file === file) ?? []),
  );
  writeFileSync(jsonPath, `${JSON.stringify(scores, null, 2)}\n`);
  writeFileSync(join(root, "docs/mutation.md"), formatReport(scores));
}

const wanted = process.argv.slice(2);
const unknown = wanted.filter((name) => !AREAS.some((area) => area.name === name));
if (unknown.length > 0) throw new Error(`there is no area ${unknown.join(", ")}`);
const areas = AREAS.filter(({ name }) => wanted.length === 0 || wanted.includes(name));

const server = await startTestServer();
process.env["MUTATION_DATABASE"] = server.socketDir;
const fresh: FileScore[] = [];
try {
  for (const area of areas) {
    console.log(`\n== ${area.name}`);
    const outcomes = await run(area);
    fresh.push(...area.files.map((file) => count(area, file, outcomes)));
    tellNeverEnded(outcomes);
    writeReport(fresh);
  }
} finally {
  await server.stop();
}

const low = areas.filter(
  ({ name }) => scoreOf(fresh.filter(({ area }) => area === name)) < SCORE_MIN,
);
for (const { name } of low) console.error(`${name} is below ${SCORE_MIN} %`);
const stale = listStale(fresh);
for (const entry of stale) console.error(`not a living mutant any more: ${entry}`);
console.log(`\n${scoreOf(fresh).toFixed(1)} % caught, see docs/mutation.md`);
process.exit(low.length + stale.length === 0 ? 0 : 1);
