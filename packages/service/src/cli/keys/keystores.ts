/** Files of new keystores, and the passphrases that encrypt them. */
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { toBase58 } from "../../chains/solana/base58.ts";
import { OperatingError } from "../../core/errors.ts";
import type { Address } from "../../core/hex.ts";
import type { Secret } from "../../core/secret.ts";
import type { AskPassphrase } from "../../roles/key-opener.ts";
import { createEvmKeystore } from "../../signers/evm/keystore.ts";
import type { Keystore, ScryptCost } from "../../signers/keystore.ts";
import { encryptSeed } from "../../signers/solana/keystore.ts";

const PASSPHRASE_LENGTH_MIN = 12;

/** Asks for a new passphrase. Throws CONFIG_MISSING for one that is too short or mistyped. */
export async function typePassphrase(
  askPassphrase: AskPassphrase,
  question?: string,
): Promise<Secret> {
  const passphrase = await askPassphrase(question);
  refuseShort(passphrase);
  const again = await askPassphrase("The same again: ");
  if (again.reveal() === passphrase.reveal()) return passphrase;
  throw new OperatingError("CONFIG_MISSING", "keystorePassphrase: expected the same twice");
}

/** Throws CONFIG_MISSING for a passphrase that is too short. */
export function refuseShort(passphrase: Secret): void {
  if (passphrase.reveal().length >= PASSPHRASE_LENGTH_MIN) return;
  throw new OperatingError(
    "CONFIG_MISSING",
    `keystorePassphrase: expected at least ${PASSPHRASE_LENGTH_MIN} characters`,
  );
}

/** Creates a key in a new keystore, and returns its address. */
export async function makeKeystore(
  path: string,
  passphrase: Secret,
  setting: string,
): Promise<Address> {
  const { keystore, address } = await createEvmKeystore(passphrase);
  writeKeystore(path, keystore, setting);
  return address;
}

/** Writes a seed's keystore. Throws CONFIG_MISSING if the file exists. */
export async function writeSeed(
  path: string,
  {
    seed,
    passphrase,
    setting,
    cost,
  }: {
    readonly seed: Secret;
    readonly passphrase: Secret;
    readonly setting: string;
    /** Cost of encryption; lower only in tests. */
    readonly cost?: ScryptCost | undefined;
  },
): Promise<{ readonly binding: string }> {
  const { keystore, binding } = await encryptSeed(seed, passphrase, cost);
  writeKeystore(path, keystore, setting);
  return { binding: toBase58(binding) };
}

/** Writes a keystore's file, readable only by its user. Throws CONFIG_MISSING if the file exists. */
export function writeKeystore(path: string, keystore: Keystore, setting: string): void {
  try {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    writeFileSync(path, `${JSON.stringify(keystore, null, 2)}\n`, { mode: 0o600, flag: "wx" });
  } catch (cause) {
    throw new OperatingError("CONFIG_MISSING", `${setting}: expected to be able to write ${path}`, {
      cause,
    });
  }
}
