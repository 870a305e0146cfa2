/** The seed of Solana: kept in a second place, and brought back from there. */
import { existsSync } from "node:fs";
import { toBase58 } from "../chains/solana/base58.ts";
import type { Config } from "../config/index.ts";
import { OperatingError } from "../core/errors.ts";
import type { KeptKey, ScryptCost } from "../signers/keystore.ts";
import { decryptSeed } from "../signers/solana/keystore.ts";
import { type AskPassphrase, getPassphrase, readKeystore } from "../roles/keys.ts";
import { typePassphrase, writeSeed } from "./keys.ts";

const QUESTION = "Passphrase of the backup: ";

/** Where a seed is, and the address of its binding key: what a person compares. */
export interface ShownSeed {
  readonly path: string;
  readonly binding: string;
}

interface SeedOptions {
  readonly askPassphrase: AskPassphrase;
  /** Lower in tests alone. */
  readonly cost?: ScryptCost;
}

/**
 * Encrypts the seed of a keystore with another passphrase, into another file, and proves that the file opens to it.
 * Throws CONFIG_MISSING when there is such a file.
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

/**
 * Brings a seed back from its backup, into a keystore with the passphrase of the others. A keystore that is there is left
 * as it is: it is proved to have the same seed, or the seed is not brought back.
 * @param binding the address that was noted when the backup was made
 */
export async function restoreSeed(
  config: Pick<Config, "keystorePassphrase">,
  {
    backup,
    keystore,
    binding,
  }: {
    readonly backup: string;
    readonly keystore: string;
    readonly binding?: string | undefined;
  },
  { askPassphrase, cost }: SeedOptions,
): Promise<ShownSeed & { readonly isNew: boolean }> {
  const seed = await decryptSeed(
    readKeystore(backup, backup),
    await askPassphrase(QUESTION),
    backup,
  );
  const shown = { path: keystore, binding: toBase58(seed.address) };
  if (binding !== undefined && binding !== shown.binding) {
    throw new OperatingError(
      "CONFIG_MISSING",
      `${backup}: expected the seed of the binding key ${binding}, it has the one of ${shown.binding}`,
    );
  }
  const passphrase = existsSync(keystore)
    ? await getPassphrase(config, askPassphrase)
    : (config.keystorePassphrase ?? (await typePassphrase(askPassphrase)));
  if (existsSync(keystore)) {
    const there = await decryptSeed(readKeystore(keystore, keystore), passphrase, keystore);
    refuseOther(keystore, there, seed);
    return { ...shown, isNew: false };
  }
  await writeSeed(keystore, { seed: seed.key, passphrase, setting: keystore, cost });
  return { ...shown, isNew: true };
}

function refuseExisting(path: string): void {
  if (!existsSync(path)) return;
  throw new OperatingError("CONFIG_MISSING", `${path}: expected no file there yet`);
}

function refuseOther(path: string, found: KeptKey, wanted: KeptKey): void {
  if (found.key.reveal() === wanted.key.reveal()) return;
  throw new OperatingError(
    "CONFIG_MISSING",
    `${path}: it has another seed, the one of the binding key ${toBase58(found.address)}; it is left as it is`,
  );
}
