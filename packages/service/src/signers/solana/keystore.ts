/** Keystores that hold a seed. The address that they state is the binding key's. */
import type { Address } from "../../core/hex.ts";
import type { Secret } from "../../core/secret.ts";
import {
  decryptKeystore,
  encryptKeystore,
  type KeptKey,
  type Keystore,
  type ScryptCost,
} from "../keystore.ts";
import { createSeed } from "./seed.ts";

/** Encrypts a seed. Only tests lower `cost`. */
export async function encryptSeed(
  seed: Secret,
  passphrase: Secret,
  cost?: ScryptCost,
): Promise<{ readonly keystore: Keystore; readonly binding: Address }> {
  const { binding } = createSeed(seed, "a seed").accounts;
  const keystore = await encryptKeystore({ key: seed, address: binding }, passphrase, cost);
  return { keystore, binding };
}

/** Decrypts a seed. Throws CONFIG_MISSING as `decryptKeystore` does. */
export async function decryptSeed(
  keystore: Keystore,
  passphrase: Secret,
  whose: string,
): Promise<KeptKey> {
  const addressOf = (seed: Secret) => createSeed(seed, whose).accounts.binding;
  return decryptKeystore(keystore, { passphrase, whose, addressOf });
}
