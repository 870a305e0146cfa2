import { existsSync } from "node:fs";
import { toBase58 } from "../../chains/solana/base58.ts";
import type { Config } from "../../config/index.ts";
import { OperatingError } from "../../core/errors.ts";
import { getPassphrase, readKeystore } from "../../roles/key-opener.ts";
import { decryptSeed } from "../../signers/solana/keystore.ts";
import type { Call, Result } from "../command.ts";
import { typePassphrase, writeSeed } from "./keystores.ts";
import { QUESTION, refuseOther, type SeedOptions, type ShownSeed } from "./seed.ts";

/** Restores the seed from its backup. */
export async function run(
  { readConfig, askPassphrase }: Call,
  input: {
    readonly backup: string;
    readonly keystore: string;
    readonly binding: string | undefined;
  },
): Promise<Result> {
  const restored = await restoreSeed(readConfig({ keysOf: "all" }), input, { askPassphrase });
  const { path, binding, isNew } = restored;
  const text = isNew
    ? `The seed of the binding key ${binding} is back in ${path}.`
    : `${path} has the seed of the binding key ${binding} already: nothing was changed.`;
  return { json: restored, text };
}

/**
 * Restores a seed from its backup into a keystore with the passphrase of the others. Never changes an existing keystore: it
 * must contain the same seed, otherwise the restore fails.
 * @param binding the binding address noted when the backup was written
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
