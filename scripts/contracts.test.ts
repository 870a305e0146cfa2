/** Rules of the contracts, and of the pages that name their tests, which no compiler checks. */
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { runForge } from "../packages/contracts/scripts/forge.ts";

const root = join(import.meta.dirname, "..");
const read = (path: string): string => readFileSync(join(root, path), "utf8");

test("every Solidity file is formatted", () => {
  const { status, stdout } = runForge(["fmt", "--check", "."], "capture");
  expect({ status, stdout }).toEqual({ status: 0, stdout: "" });
});

test("a deposit costs at most 160,000 gas on both chains, in batches of twenty at one attestor", () => {
  // The gas tests write it, and the deep run compares it with what it measures.
  const measured: Record<string, string> = JSON.parse(
    read("packages/contracts/vectors/gas/GasTest.json"),
  );
  const parts = ["lockMany of 20", "deliverMany of 20", "claimMany of 20"];
  const gas = parts.map((name) => Number(measured[name]) / 20);
  // Less was another call than the batch.
  for (const part of gas) expect(part).toBeGreaterThan(25_000);
  expect(gas.reduce((sum, part) => sum + part)).toBeLessThanOrEqual(160_000);
});

test("every mutant of the contracts applies to the current code", () => {
  const mutants: readonly { name: string; file: string; find: string }[] = JSON.parse(
    read("packages/contracts/mutants/mutants.json"),
  );
  const lost = mutants.filter(
    ({ file, find }) => read(`packages/contracts/${file}`).split(find).length !== 2,
  );
  expect(lost.map(({ name }) => name)).toEqual([]);
});

test("every law of a game is played through GameTest, as often as every other", () => {
  const files = execFileSync("git", ["ls-files", "packages/contracts/test/*.sol"], {
    cwd: root,
    encoding: "utf8",
  })
    .trim()
    .split("\n");
  const games = files.filter((path) => read(path).includes("function invariant_"));
  expect(games.length).toBeGreaterThan(5);
  expect(games.filter((path) => !/\b(GameTest|StolenKeyTest)\b/.test(read(path)))).toEqual([]);
  // Settings beside a test win over those of the run, so that a short run would play the long game.
  const own = /forge-config: default\.(invariant|fuzz)|function target(Contracts|Senders)\b/;
  expect(files.filter((path) => own.test(read(path)))).toEqual([
    "packages/contracts/test/support/GameTest.sol",
  ]);
});

test("every test that a table of keys names exists", () => {
  const listed = execFileSync("git", ["ls-files", "--cached", "--others", "--exclude-standard"], {
    cwd: root,
    encoding: "utf8",
  });
  const names = new Set(
    listed
      .split("\n")
      .filter((path) => /\.(test\.ts|t\.sol)$/.test(path))
      .map((path) => path.replace(/^.*\//, ""))
      .flatMap((file) => [file, file.replace(/(\.(deep|e2e))?\.(test\.ts|t\.sol)$/, "")]),
  );
  const named = ["docs/keys.md", "ARCHITECTURE.md"].flatMap((page) =>
    read(page)
      .split("\n\n")
      .filter((block) => /^\|.*\| proved by +\|\n/.test(block))
      .flatMap((table) => table.split("\n").map((row) => row.split("|").at(-2) ?? ""))
      .flatMap((cell) => [...cell.matchAll(/`([^`]+)`/g)].map(([, name = ""]) => name)),
  );
  expect(named.length).toBeGreaterThan(50);
  expect(named.filter((name) => !names.has(name))).toEqual([]);
});
