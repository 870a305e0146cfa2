/**
 * Tests of the tests: each mutant is one realistic mistake planted in a copy of the contracts, and the tests must fail.
 * Prints a line for each and the number caught; fails if one survives or does not compile. An argument selects the
 * mutants whose name contains it.
 */
import { spawnSync } from "node:child_process";
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { CONTRACTS_DIR } from "./forge.ts";

interface Mutant {
  readonly name: string;
  readonly file: string;
  /** Exact text that must occur once. */
  readonly find: string;
  readonly replace: string;
}

const root = join(CONTRACTS_DIR, "../..");

/** Copies the package with its surroundings, since paths lead out of it. */
function copyPackage(): string {
  const home = mkdtempSync(join(tmpdir(), "sluice-mutants-"));
  const copy = join(home, "packages/contracts");
  mkdirSync(join(home, "packages"));
  cpSync(CONTRACTS_DIR, copy, {
    recursive: true,
    filter: (path) => !/\/(out|cache|node_modules)(\/|$)/.test(path.slice(CONTRACTS_DIR.length)),
  });
  symlinkSync(join(root, "node_modules"), join(home, "node_modules"));
  return home;
}

function plant(source: string, { name, file, find, replace }: Mutant): string {
  const parts = source.split(find);
  if (parts.length !== 2) {
    throw new Error(
      `mutant "${name}": expected its text once in ${file}, found it ${parts.length - 1} times`,
    );
  }
  return parts.join(replace);
}

/** Runs the tests on the current copy. */
function judge(home: string): "caught" | "SURVIVED" | "DOES NOT COMPILE" {
  const script = join(home, "packages/contracts/scripts/forge.ts");
  const args = [script, "test", "--fail-fast"];
  const { status, stdout } = spawnSync(process.execPath, args, {
    encoding: "utf8",
    maxBuffer: 2 ** 28,
  });
  if (status === 0) return "SURVIVED";
  return /^Ran \d+ test suites?|^Encountered/m.test(stdout) ? "caught" : "DOES NOT COMPILE";
}

// CAST: the project's own file; an entry of another form cannot be planted.
const all = JSON.parse(
  readFileSync(join(CONTRACTS_DIR, "mutants/mutants.json"), "utf8"),
) as readonly Mutant[];
const wanted = process.argv[2] ?? "";
const mutants = all.filter(({ name }) => name.includes(wanted));
const home = copyPackage();
let caught = 0;
try {
  if (judge(home) !== "SURVIVED") throw new Error("the tests fail without any mutant");
  for (const mutant of mutants) {
    const path = join(home, "packages/contracts", mutant.file);
    const source = readFileSync(path, "utf8");
    writeFileSync(path, plant(source, mutant));
    const verdict = judge(home);
    writeFileSync(path, source);
    if (verdict === "caught") caught += 1;
    console.log(`${verdict.padEnd(8)}  ${mutant.name}`);
  }
} finally {
  rmSync(home, { recursive: true, force: true });
}
console.log(`${caught} of ${mutants.length} caught`);
if (caught !== mutants.length) process.exitCode = 1;
