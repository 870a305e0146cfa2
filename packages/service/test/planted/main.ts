/**
 * `npm run planted`: tests the tests. Plants each bug of the bank in a temporary copy of the service; then the simulation
 * (seeds from 1 on, until one fails) or the named unit test must fail. Prints a line for each bug and the number caught;
 * fails when a bug survives, does not compile or no longer fits the code.
 *
 * `--name` selects the bugs whose name contains the text, `--by simulation` or `--by tests` those caught by it, `--some N`
 * a random choice of N, `--missing` those without a record. `--seeds` limits the seeds per bug. `--write` records in
 * `results.json` how each was caught.
 */
import { spawnSync } from "node:child_process";
import {
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { type Bug, BUGS, plant, SERVICE_DIR } from "./bank.ts";

const { values } = parseArgs({
  options: {
    name: { type: "string", default: "" },
    by: { type: "string", default: "" },
    some: { type: "string", default: String(BUGS.length) },
    seeds: { type: "string", default: "1000" },
    write: { type: "boolean", default: false },
    missing: { type: "boolean", default: false },
  },
});

const ROOT = join(SERVICE_DIR, "../..");
const RESULTS = join(import.meta.dirname, "results.json");
/** Seeds that must pass before any bug is planted: a simulation that fails by itself catches nothing. */
const SOUND_SEEDS = 20;
const OUTPUT_MAX = 2 ** 28;

/** How a bug was caught. */
interface Result {
  readonly name: string;
  readonly by: string;
  /** Seeds that the simulation needed. */
  readonly seeds?: number;
  /** Message of the simulation or of the first failing test. */
  readonly as: string;
}

type Verdict =
  | { readonly kind: "caught"; readonly as: string; readonly seeds?: number }
  | { readonly kind: "SURVIVED" }
  | { readonly kind: "DOES NOT COMPILE" | "DOES NOT RUN"; readonly output: string };

/** Copies the service with its surroundings, since its paths point outside its folder. */
function copyService(): string {
  const home = mkdtempSync(join(tmpdir(), "sluice-planted-"));
  const copy = join(home, "packages/service");
  mkdirSync(join(home, "packages"));
  cpSync(SERVICE_DIR, copy, {
    recursive: true,
    filter: (path) => !/\/node_modules(\/|$)/.test(path.slice(SERVICE_DIR.length)),
  });
  for (const name of readdirSync(join(ROOT, "packages"))) {
    if (name !== "service") symlinkSync(join(ROOT, "packages", name), join(home, "packages", name));
  }
  for (const name of ["node_modules", "docs", "scripts"])
    symlinkSync(join(ROOT, name), join(home, name));
  for (const name of ["package.json", "vitest.config.ts"]) {
    copyFileSync(join(ROOT, name), join(home, name));
  }
  const config = { extends: join(ROOT, "tsconfig.json"), include: ["packages/service/**/*.ts"] };
  writeFileSync(join(home, "tsconfig.json"), JSON.stringify(config));
  return home;
}

function run(home: string, args: readonly string[]) {
  return spawnSync(process.execPath, args, { cwd: home, encoding: "utf8", maxBuffer: OUTPUT_MAX });
}

/** Returns the compiler's errors in the copy; empty without any. */
function compile(home: string): string {
  const { status, stdout, stderr } = run(home, [
    join(ROOT, "node_modules/typescript/bin/tsc"),
    "--noEmit",
    "--incremental",
    "--tsBuildInfoFile",
    join(home, "tsbuildinfo"),
  ]);
  return status === 0 ? "" : stdout + stderr;
}

function judge(home: string, by: string, seeds: number): Verdict {
  return by === "simulation" ? simulate(home, seeds) : runTests(home, [by]);
}

function simulate(home: string, seeds: number): Verdict {
  const script = join(home, "packages/service/test/simulation/main.ts");
  const args = [script, "--stop-at-first", "--seeds", String(seeds)];
  const { status, stdout, stderr } = run(home, args);
  if (status === 0) return { kind: "SURVIVED" };
  const count = Number(/^(\d+) seeds to the first that broke/m.exec(stdout)?.[1]);
  const said = new RegExp(`^seed ${count}, step \\d+: (?:\\w+: )?(.*?)(?:: \\{)?$`, "m").exec(
    stdout,
  )?.[1];
  if (said === undefined) return { kind: "DOES NOT RUN", output: stdout + stderr };
  return { kind: "caught", seeds: count, as: said };
}

/** The fields that are read of vitest's JSON report. */
interface Report {
  readonly testResults: readonly {
    readonly assertionResults: readonly { readonly status: string; readonly fullName: string }[];
  }[];
}

function runTests(home: string, files: readonly string[]): Verdict {
  const report = join(home, "report.json");
  rmSync(report, { force: true });
  const { status, stdout, stderr } = run(home, [
    join(ROOT, "node_modules/vitest/vitest.mjs"),
    ..."run --project unit --bail 1 --reporter json".split(" "),
    "--root",
    home,
    "--outputFile",
    report,
    ...files.map((file) => `packages/service/${file}`),
  ]);
  if (status === 0) return { kind: "SURVIVED" };
  if (!existsSync(report)) return { kind: "DOES NOT RUN", output: stdout + stderr };
  // CAST: the form of vitest's report.
  const { testResults } = JSON.parse(readFileSync(report, "utf8")) as Report;
  const failed = testResults
    .flatMap(({ assertionResults }) => assertionResults)
    .find((test) => test.status === "failed");
  if (!failed) return { kind: "DOES NOT RUN", output: stdout + stderr };
  return { kind: "caught", as: failed.fullName };
}

/** Runs the catcher with the bug in the copy, and restores the copy afterwards. */
function tryBug(home: string, bug: Bug): Verdict {
  const service = join(home, "packages/service");
  const before = new Map<string, string>();
  try {
    for (const edit of bug.edits) {
      const path = join(service, edit.file);
      const source = readFileSync(path, "utf8");
      if (!before.has(path)) before.set(path, source);
      writeFileSync(path, plant(source, edit, bug.name));
    }
    const complaints = compile(home);
    if (complaints) return { kind: "DOES NOT COMPILE", output: complaints };
    return judge(home, bug.by, Number(values.seeds));
  } finally {
    for (const [path, source] of before) writeFileSync(path, source);
  }
}

/** Checks that nothing fails without a bug; otherwise a failure would prove nothing. */
function assertSound(home: string, bugs: readonly Bug[]): void {
  const complaints = compile(home);
  if (complaints) throw new Error(`the service does not compile:\n${complaints}`);
  const files = new Set(bugs.map(({ by }) => by));
  const verdicts = [
    files.delete("simulation") ? simulate(home, SOUND_SEEDS) : null,
    files.size > 0 ? runTests(home, [...files]) : null,
  ];
  for (const verdict of verdicts) {
    if (verdict && verdict.kind !== "SURVIVED")
      throw new Error(`what is to catch bugs fails without any: ${JSON.stringify(verdict)}`);
  }
}

// CAST: written by `record`.
const readResults = () => JSON.parse(readFileSync(RESULTS, "utf8")) as readonly Result[];

/** Writes the results, and keeps the records of the bugs that were not tried. */
function record(results: readonly Result[]): void {
  const all = new Map([...readResults(), ...results].map((result) => [result.name, result]));
  const kept = BUGS.flatMap(({ name }) => all.get(name) ?? []);
  writeFileSync(RESULTS, `${JSON.stringify(kept, null, 2)}\n`);
}

function choose(): readonly Bug[] {
  const known = values.missing ? readResults().map(({ name }) => name) : [];
  const wanted = BUGS.filter(
    ({ name, by }) =>
      name.includes(values.name) &&
      !known.includes(name) &&
      (values.by === "" || (values.by === "simulation") === (by === "simulation")),
  );
  const ranked = wanted.map((bug) => ({ bug, rank: Math.random() }));
  const chosen = ranked
    .toSorted((one, other) => one.rank - other.rank)
    .slice(0, Number(values.some));
  return wanted.filter((bug) => chosen.some((one) => one.bug === bug));
}

const bugs = choose();
const home = copyService();
let caught = 0;
try {
  assertSound(home, bugs);
  for (const bug of bugs) {
    const verdict = tryBug(home, bug);
    if (verdict.kind === "caught") {
      caught += 1;
      const { kind, ...how } = verdict;
      if (values.write) record([{ name: bug.name, by: bug.by, ...how }]);
      const after = how.seeds === undefined ? "" : ` after ${how.seeds} seeds`;
      console.log(`${kind}    ${bug.name}: by ${bug.by}${after}: ${how.as}`);
    } else {
      console.log(`${verdict.kind}  ${bug.name}`);
      if ("output" in verdict) console.log(verdict.output);
    }
  }
} finally {
  rmSync(home, { recursive: true, force: true });
}
console.log(`${caught} of ${bugs.length} caught`);
if (caught !== bugs.length) process.exitCode = 1;
