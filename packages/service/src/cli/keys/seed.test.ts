import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { toHex32 } from "../../core/hex.ts";
import { Secret } from "../../core/secret.ts";
import { decryptSeed } from "../../signers/solana/keystore.ts";
import { createSeed, drawSeed } from "../../signers/solana/seed.ts";
import { readKeystore } from "../../roles/key-opener.ts";
import { writeSeed } from "./keystores.ts";
import { backUpSeed } from "./backup-seed.ts";
import { restoreSeed } from "./restore-seed.ts";

const CHEAP = { n: 1_024, r: 8, p: 1 };
const PASSPHRASE = new Secret("of the keystores");
const OF_BACKUP = "of the backup alone";
const config = { keystorePassphrase: PASSPHRASE };
const COMMITMENT = toHex32(`0x${"ab".repeat(32)}`);

let folder: string;
const keystore = () => join(folder, "keys", "seed.json");
const backup = () => join(folder, "vault", "seed.backup.json");

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "sluice-seed-"));
});
afterEach(() => rmSync(folder, { recursive: true }));

/** Answers the prompts in order. */
function typing(...answers: readonly string[]) {
  const left = [...answers];
  return async () => new Secret(left.shift() ?? "");
}

const options = (...answers: readonly string[]) => ({
  askPassphrase: typing(...answers),
  cost: CHEAP,
});
const make = (path = keystore()) =>
  writeSeed(path, {
    seed: drawSeed(),
    passphrase: PASSPHRASE,
    setting: "solana.seed",
    cost: CHEAP,
  });
const backUp = () =>
  backUpSeed(config, { keystore: keystore(), backup: backup() }, options(OF_BACKUP, OF_BACKUP));
const restore = (binding?: string, passphrase = OF_BACKUP) =>
  restoreSeed(config, { backup: backup(), keystore: keystore(), binding }, options(passphrase));

async function readVault(): Promise<string> {
  const { key } = await decryptSeed(readKeystore(keystore(), "k"), PASSPHRASE, "k");
  return createSeed(key, "k").vaultOf(COMMITMENT);
}

describe("a seed", () => {
  test("is restored from its backup after a loss, with the same vaults", async () => {
    const made = await make();
    const vault = await readVault();
    const copy = await backUp();
    expect(copy).toEqual({ path: backup(), binding: made.binding });
    rmSync(keystore());
    const restored = await restore(made.binding);
    expect(restored).toEqual({ path: keystore(), binding: made.binding, isNew: true });
    expect(await readVault()).toBe(vault);
  });

  test("and its backup are readable by their user alone, and do not show it", async () => {
    await make();
    await backUp();
    const { key } = await decryptSeed(readKeystore(keystore(), "k"), PASSPHRASE, "k");
    for (const path of [keystore(), backup()]) {
      expect(statSync(path).mode & 0o077).toBe(0);
      expect(readFileSync(path, "utf8")).not.toContain(key.reveal().slice(2));
    }
  });

  test("is never created where one exists", async () => {
    await make();
    const before = readFileSync(keystore(), "utf8");
    await expect(make()).rejects.toThrow("solana.seed: expected to be able to write");
    expect(readFileSync(keystore(), "utf8")).toBe(before);
  });
});

describe("a backup", () => {
  test("opens only with its own passphrase", async () => {
    await make();
    await backUp();
    rmSync(keystore());
    await expect(restore(undefined, PASSPHRASE.reveal())).rejects.toThrow("does not open");
  });

  test("is not written with a short or mistyped passphrase", async () => {
    await make();
    const paths = { keystore: keystore(), backup: backup() };
    await expect(backUpSeed(config, paths, options("short", "short"))).rejects.toThrow(
      "at least 12 characters",
    );
    await expect(backUpSeed(config, paths, options(OF_BACKUP, "another one"))).rejects.toThrow(
      "the same twice",
    );
    expect(() => readFileSync(backup())).toThrow("ENOENT");
  });

  test("does not overwrite an existing file", async () => {
    await make();
    await backUp();
    const before = readFileSync(backup(), "utf8");
    await expect(backUp()).rejects.toThrow("expected no file there yet");
    expect(readFileSync(backup(), "utf8")).toBe(before);
  });

  test("of a seed with another binding address is refused, and nothing is written", async () => {
    await make();
    await backUp();
    rmSync(keystore());
    const other = await make(join(folder, "other.json"));
    await expect(restore(other.binding)).rejects.toThrow(
      `expected the seed of the binding key ${other.binding}`,
    );
    expect(() => readFileSync(keystore())).toThrow("ENOENT");
  });

  test("is refused when damaged", async () => {
    await make();
    await backUp();
    rmSync(keystore());
    const text = readFileSync(backup(), "utf8");
    const ciphertext: string = JSON.parse(text).crypto.ciphertext;
    writeFileSync(backup(), text.replace(ciphertext, "00".repeat(32)));
    await expect(restore()).rejects.toThrow("does not open");
  });

  test("changes no existing keystore, of the same seed or of another", async () => {
    const made = await make();
    await backUp();
    const before = readFileSync(keystore(), "utf8");
    expect(await restore()).toMatchObject({ isNew: false, binding: made.binding });
    expect(readFileSync(keystore(), "utf8")).toBe(before);
    rmSync(keystore());
    const other = await make();
    const after = readFileSync(keystore(), "utf8");
    await expect(restore()).rejects.toThrow(
      `it has another seed, with the binding key ${other.binding}`,
    );
    expect(readFileSync(keystore(), "utf8")).toBe(after);
  });
});
