/** The settings `attestor.databaseUser` and `attestors`. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { problemsOf } from "../../test/support/config.ts";
import { loadConfig } from "../roles/config.ts";

const EXAMPLE = join(import.meta.dirname, "../../../../docs/examples/production.json");

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "sluice-attestor-"));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Loads the production example with changes of the attestor, and of the file. */
function load(changes: object, more: object = {}) {
  const file = JSON.parse(readFileSync(EXAMPLE, "utf8"));
  const path = join(folder, "sluice.json");
  writeFileSync(
    path,
    JSON.stringify({ ...file, ...more, attestor: { ...file.attestor, ...changes } }),
  );
  const env = { SLUICE_DATABASE_URL: "postgres://sluice@db.example/sluice" };
  return loadConfig({ path, env, roles: ["auditor"] });
}

test("is the name of a database user, none by default", () => {
  const databaseUser = "sluice_attestor";
  expect(load({ databaseUser }).attestor.databaseUser).toBe(databaseUser);
  expect(load({ databaseUser: undefined }).attestor.databaseUser).toBeUndefined();
  expect(problemsOf(() => load({ databaseUser: "Attestor; drop" }))).toEqual([
    "attestor.databaseUser: expected the name of a PostgreSQL user, in lower case",
  ]);
});

test("with several attestors, names all their users, and as many accounts as must sign", () => {
  const others = ["sluice_b", "sluice_c"];
  const config = load({ databaseUser: "sluice_a" }, { attestors: { databaseUsers: others } });
  expect(config.attestors).toEqual({
    threshold: 1,
    accounts: [],
    cold: [],
    databaseUsers: ["sluice_a", ...others],
  });
  const accounts = ["0a", "0b"].map((byte) => `0x${byte.repeat(20)}`);
  const two = load({}, { attestors: { threshold: 2, accounts } });
  expect(two.attestors).toMatchObject({ threshold: 2, accounts });
  for (const [attestors, problem] of [
    [{ threshold: 2 }, "attestors.accounts: expected at least 2 addresses"],
    [{ threshold: 3, accounts }, "attestors.accounts: expected at least 3 addresses"],
    [{ accounts: [accounts[0], accounts[0]] }, "attestors.accounts: expected different addresses"],
    [{ threshold: 8 }, "attestors.threshold: expected a number from 1 to 7"],
  ] as const) {
    expect(problemsOf(() => load({}, { attestors }))[0]).toContain(problem);
  }
});

test("excludes a daily budget of the attestor's nodes, which its user could not count", () => {
  const node = { url: "https://ethereum.example", requestsPerDay: 5 };
  const rpcUrls = { ethereum: node, base: "https://base.example" };
  expect(problemsOf(() => load({ rpcUrls, databaseUser: "sluice_attestor" }))).toEqual([
    "attestor.rpcUrls.2: expected no requestsPerDay beside attestor.databaseUser, which may write attestations only",
  ]);
  expect(problemsOf(() => load({ rpcUrls, databaseUser: undefined }))).toEqual([]);
});
