/** Drills of a disaster: the database is lost, and then the whole machine, and `sluice backup` brings them back. */
import { execFileSync } from "node:child_process";
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createBackup, restoreBackup } from "../src/backups/index.ts";
import { Secret } from "../src/core/secret.ts";
import { openDatabase } from "../src/db/pool.ts";
import { systemClock } from "../src/roles/system-ports.ts";
import { auditWorld } from "./support/audit.ts";
import { type DebianPostgres, startDebianPostgres } from "./support/debian-postgres.ts";
import { afterFee, deposit, expectDelivered, expectEmptyEscrow, USDC } from "./support/deposits.ts";
import { beginDrill } from "./support/drill.ts";
import { openWorld, type World } from "./support/world.ts";

let postgres: DebianPostgres;
let world: World;
let folder: string;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "sluice-backups-"));
  postgres = await startDebianPostgres();
  world = await openWorld({ databaseUrl: await postgres.create("first") });
});
afterAll(async () => {
  await world?.close();
  await postgres?.stop();
  rmSync(folder, { recursive: true, force: true });
});

const audit = () => auditWorld(world);

async function refusalOf(...args: string[]): Promise<string> {
  const failure = await world.command(...args).then(
    () => null,
    (error: unknown) => error as { readonly stderr: string },
  );
  return failure?.stderr ?? "it worked";
}

/** Points the configuration to another database. */
async function moveTo(name: string): Promise<void> {
  writeFileSync(join(dirname(world.configPath), "database-url"), await postgres.create(name), {
    mode: 0o600,
  });
}

/** Looks, as the operator does, and ends what a restored database must find. */
async function endBreaches(): Promise<void> {
  await world.until("every breach is ended", async () => {
    const { breaches } = await audit();
    for (const { id } of breaches) {
      await world.command("audit", "end", id, "--reason", "restored from the backup");
    }
    return breaches.length === 0;
  });
}

test("a lost database comes back, signs nothing before an operator has looked, and pays nothing twice [T116]", async () => {
  const known = await expectDelivered(world, await deposit(world, 8n * USDC));
  const recipient = world.newRecipient();
  const { address } = await world.quote({ from: "ethereum", to: "base", recipient });
  await expectEmptyEscrow(world);
  const backup = join(folder, "first");
  const made = await world.command("backup", "create", backup, "--json");
  expect(made).toMatchObject({
    folder: backup,
    journals: [{ path: "signers/settler.jsonl" }, { path: "signers/attestor.jsonl" }],
  });
  expect(statSync(backup).mode & 0o777).toBe(0o700);
  expect(readdirSync(folder)).toEqual(["first"]);
  expect(await refusalOf("backup", "create", backup)).toContain("a folder that does not exist yet");
  expect(await world.command("backup", "verify", backup, "--json")).toMatchObject({ format: 1 });
  // The password was in a file that is gone, and is in nothing that was written.
  expect(readFileSync(join(backup, "manifest.json"), "utf8")).not.toContain("p@ss");

  // An hour of work that the backup does not have.
  const amount = 9n * USDC;
  await world.pay("ethereum", address, amount);
  await expectDelivered(world, { recipient, address, amount });
  await expectEmptyEscrow(world);
  expect(await refusalOf("backup", "restore", backup)).toContain("expected no tables");

  const recovered = beginDrill("database lost");
  await world.killService();
  await postgres.drop("first");
  await moveTo("second");
  const restored = await world.command("backup", "restore", backup, "--json");
  // The journals of this machine are longer than those of the backup.
  expect(restored).toMatchObject({
    files: [{ outcome: "kept" }, { outcome: "kept" }],
    applied: [],
  });
  await world.restartService({});
  expect((await world.swapsOf(known.walletAddress)).map(({ id }) => id)).toContain(known.id);

  const later = await deposit(world, 7n * USDC);
  await world.until("lanes are found behind the chains", async () => {
    const { breaches } = await audit();
    return breaches.some(({ invariant }) => invariant === "V10");
  });
  await world.deposits(later.address, 1);
  expect(await world.balance("ethereum", later.address)).toBe(7n * USDC);
  expect(await world.countDeliveries("base", later.recipient)).toBe(0);
  await endBreaches();
  await expectDelivered(world, later);
  recovered();
  expect(await world.countDeliveries("base", recipient)).toBe(1);
  expect(await world.balance("base", recipient)).toBe(afterFee(amount));
});

test("a lost machine comes back with its journals, from a backup that is made while it works", async () => {
  const paid = [];
  for (let n = 0; n < 3; n += 1) paid.push(await deposit(world, BigInt(5 + n) * USDC));
  const backup = join(folder, "second");
  await world.command("backup", "create", backup, "--json");
  for (const one of paid) await expectDelivered(world, one);
  const recovered = beginDrill("machine lost");
  await world.killService();
  await postgres.drop("second");
  rmSync(join(dirname(world.configPath), "service"), { recursive: true, force: true });
  await moveTo("third");
  const journal = join(dirname(world.configPath), "service/signers/settler.jsonl");
  expect(await world.command("backup", "restore", backup, "--json")).toMatchObject({
    files: [{ path: journal, outcome: "restored" }, { outcome: "restored" }],
  });
  expect(existsSync(journal)).toBe(true);
  await world.restartService({});
  await endBreaches();
  await expectDelivered(world, await deposit(world, 6n * USDC));
  recovered();
  for (const { recipient, amount } of paid) {
    expect(await world.balance("base", recipient)).toBe(afterFee(amount));
  }
  await world.until("the books are proved", async () => (await audit()).ok);
});

test("names the damaged file of a backup, and changes nothing", async () => {
  const backup = join(folder, "damaged");
  await world.command("backup", "create", backup, "--json");
  const copy = join(folder, "copy");
  const fresh = () => {
    rmSync(copy, { recursive: true, force: true });
    execFileSync("cp", ["-a", backup, copy]);
  };
  for (const path of ["database.dump", "signers/settler.jsonl"]) {
    fresh();
    appendFileSync(join(copy, path), "x");
    expect(await refusalOf("backup", "verify", copy)).toContain(`${path}: the backup is damaged`);
    rmSync(join(copy, path));
    expect(await refusalOf("backup", "restore", copy)).toContain(
      `${path}: the backup is damaged: no file`,
    );
  }
  rmSync(join(copy, "manifest.json"));
  expect(await refusalOf("backup", "verify", copy)).toContain(
    "expected the list of a backup's files",
  );
});

test("keeps keystores, and never writes over another one or another history", async () => {
  const url = await postgres.create("keystores");
  const address = { url: new Secret(url) };
  const source = await openDatabase(
    { url: new Secret(readFileSync(join(dirname(world.configPath), "database-url"), "utf8")) },
    { max: 2 },
  );
  const target = await openDatabase(address, { max: 2 });
  const machine = join(folder, "machine");
  mkdirSync(machine);
  const keystore = { setting: "attestor.key", path: join(machine, "attestor.json") };
  const journal = join(machine, "settler.jsonl");
  writeFileSync(keystore.path, "{}");
  execFileSync("cp", [join(dirname(world.configPath), "service/signers/settler.jsonl"), journal]);
  const kept = { journals: [journal], keystores: [keystore] };
  const backup = join(folder, "keystores");
  const open = {
    url: new Secret(readFileSync(join(dirname(world.configPath), "database-url"), "utf8")),
  };
  const facts = { clock: systemClock, version: "1", ...kept };
  const database = { db: source.db, address: open, scanned: [] };
  await createBackup({ ...facts, database }, backup);
  const restore = () => restoreBackup({ database: { db: target.db, address }, ...kept }, backup);

  writeFileSync(keystore.path, '{"another":1}');
  await expect(restore()).rejects.toThrow(/attestor.json: expected the keystore of the backup/);
  writeFileSync(keystore.path, "{}");
  writeFileSync(journal, '{"another":"history"}\n');
  await expect(restore()).rejects.toThrow(/settler.jsonl: expected a journal that begins like/);
  // Part of the backup's history: the backup knows more.
  const whole = readFileSync(join(backup, "signers/settler.jsonl"), "utf8");
  writeFileSync(journal, whole.slice(0, whole.indexOf("\n") + 1));
  rmSync(keystore.path);
  expect((await restore()).files).toEqual([
    { path: journal, outcome: "restored" },
    { path: keystore.path, outcome: "restored" },
  ]);
  expect(readFileSync(journal, "utf8")).toBe(whole);
  await Promise.all([source.close(), target.close()]);
});

test("a machine that only signs backs up and restores its files, without a database", async () => {
  const backup = join(folder, "signer");
  const url = join(dirname(world.configPath), "database-url");
  const reachable = readFileSync(url, "utf8");
  writeFileSync(url, "postgres://nobody@127.0.0.1:1/none");
  try {
    const made = await world.command("backup", "create", backup, "--files-only", "--json");
    expect(made).toMatchObject({ scanned: [], journals: [{ path: "signers/settler.jsonl" }, {}] });
    const journal = join(dirname(world.configPath), "service/signers/settler.jsonl");
    const known = readFileSync(journal, "utf8");
    const recovered = beginDrill("signer's files lost");
    await world.stopService();
    rmSync(journal);
    expect(await world.command("backup", "restore", backup, "--json")).toMatchObject({
      files: [{ path: journal, outcome: "restored" }, { outcome: "kept" }],
      next: [],
    });
    expect(readFileSync(journal, "utf8")).toBe(known);
    writeFileSync(url, reachable, { mode: 0o600 });
    await world.restartService({});
    await expectDelivered(world, await deposit(world, 6n * USDC));
    recovered();
  } finally {
    writeFileSync(url, reachable, { mode: 0o600 });
  }
});
