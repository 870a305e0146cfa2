import { existsSync } from "node:fs";
import { toBase58 } from "../../chains/solana/base58.ts";
import type { Config } from "../../config/index.ts";
import { OperatingError } from "../../core/errors.ts";
import { getPassphrase, readKeystore } from "../../roles/key-opener.ts";
import { decryptSeed } from "../../signers/solana/keystore.ts";
import type { Call, Result } from "../command.ts";
import { typePassphrase, writeSeed } from "./keystores.ts";
import { QUESTION, refuseOther, type SeedOptions, type ShownSeed } from "./seed.ts";

/** Encrypts the seed into another file with a passphrase of its own. */
export async function run(
  { readConfig, askPassphrase }: Call,
  files: { readonly keystore: string; readonly backup: string },
): Promise<Result> {
  const made = await backUpSeed(readConfig({ keysOf: "all" }), files, { askPassphrase });
  const text = [
    `The seed of the binding key ${made.binding} is in ${made.path}, and opens from there.`,
    "Note that address beside the backup: it proves which seed it is.",
  ].join("\n");
  return { json: made, text };
}

/**
 * Encrypts the seed of a keystore with another passphrase into another file, and verifies that the file decrypts to it.
 * Throws CONFIG_MISSING if the file exists.
 */
export async function backUpSeed(
  config: Pick<Config, "keystorePassphrase">,
  { keystore, backup }: { readonly keystore: string; readonly backup: string },
  { askPassphrase, cost }: SeedOptions,
): Promise<ShownSeed> {
  refuseExisting(backup);
  const passphrase = await getPassphrase(config, askPassphrase);
  const seed = await decryptSeed(readKeystore(keystore, keystore), passphrase, keystore);
  const ofBackup = await typePassphrase(askPassphrase, QUESTION);
  await writeSeed(backup, { seed: seed.key, passphrase: ofBackup, setting: backup, cost });
  const readBack = await decryptSeed(readKeystore(backup, backup), ofBackup, backup);
  refuseOther(backup, readBack, seed);
  return { path: backup, binding: toBase58(seed.address) };
}

function refuseExisting(path: string): void {
  if (!existsSync(path)) return;
  throw new OperatingError("CONFIG_MISSING", `${path}: expected no file there yet`);
}
