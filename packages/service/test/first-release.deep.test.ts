/**
 * The first release on the newest schema: its own simulation (scanner, settler, attestor and auditor with their real SQL,
 * and its oracle) and one of its commands. Its files are recorded, so that the test needs no history: the service and what it
 * imports at that commit, without tests.
 */
import { execFile } from "node:child_process";
import { cp, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { brotliDecompressSync } from "node:zlib";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createTestDatabase } from "./support/database.ts";

const run = promisify(execFile);

/** A tar archive of commit 195ec9f, compressed with Brotli. */
const RELEASE = join(import.meta.dirname, "recorded/first-release/195ec9f.tar.br");
const ROOT = join(import.meta.dirname, "../../..");
const SEEDS = 20;

let folder: string;
let service: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "sluice-first-release-"));
  service = join(folder, "packages/service");
  const archive = join(folder, "archive.tar");
  await writeFile(archive, brotliDecompressSync(await readFile(RELEASE)));
  await run("tar", ["xf", archive], { cwd: folder });
  await linkModules();
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/** Gives the release the installed packages, and its own packages of this repository. */
async function linkModules(): Promise<void> {
  const [from, to] = [join(ROOT, "node_modules"), join(folder, "node_modules")];
  await mkdir(join(to, "@sluice"), { recursive: true });
  for (const name of await readdir(from)) {
    if (name !== "@sluice" && name !== ".cache") await symlink(join(from, name), join(to, name));
  }
  for (const name of await readdir(join(from, "@sluice"))) {
    await symlink(join(folder, "packages", name), join(to, "@sluice", name));
  }
}

test("a command of the first release starts and works on the newest schema [T174]", async () => {
  const database = await createTestDatabase();
  const config = join(folder, "sluice.json");
  const { EVM_CHAIN, NO_NODE, SECRETS } = await import(
    join(service, "test/support/command-line.ts")
  );
  const attestor = { key: { env: "ATTESTOR" }, rpcUrls: { 30: NO_NODE } };
  const file = { apiKeyPepper: { env: "PEPPER" }, attestor, chains: [EVM_CHAIN], routes: [] };
  await writeFile(
    config,
    JSON.stringify({ ...file, stateDir: "state", feeBps: 10, maxFeeBps: 40 }),
  );
  const sluice = async (...args: readonly string[]) => {
    const { stdout } = await run(
      process.execPath,
      [join(service, "src/main.ts"), ...args, "--config", config, "--json"],
      { env: { ...process.env, ...SECRETS, DATABASE_URL: database.url } },
    );
    return JSON.parse(stdout);
  };
  try {
    await sluice("integrator", "create", "--name", "acme", "--refund-evm", `0x${"7".repeat(40)}`);
    expect(await sluice("integrator", "list")).toMatchObject({ integrators: [{ name: "acme" }] });
    expect(await sluice("key", "create", "--integrator", "acme")).toHaveProperty("apiKey");
  } finally {
    await database.drop();
  }
});

test("the first release settles every deposit of its simulation on the newest schema [T174]", async () => {
  const ours = join(ROOT, "packages/service");
  // The simulation creates its own database, here with the newest migrations.
  await rm(join(service, "migrations"), { recursive: true });
  await cp(join(ours, "migrations"), join(service, "migrations"), { recursive: true });
  for (const name of ["migrate.ts", "migration-files.ts"]) {
    await cp(join(ours, "src/db", name), join(service, "src/db", name));
  }
  const main = join(service, "test/simulation/main.ts");
  const { stdout } = await run(process.execPath, [main, "--seeds", `${SEEDS}`, "--at-once", "2"], {
    maxBuffer: 2 ** 26,
  });
  expect(stdout).toContain(`${SEEDS} seeds, 0 broken`);
});
