/** Keystores that hold the private key of an EVM account. */
import { randomBytes } from "node:crypto";
import type { EvmAddress } from "../../core/hex.ts";
import { Secret } from "../../core/secret.ts";
import {
  decryptKeystore,
  encryptKeystore,
  type KeptKey,
  type Keystore,
  type ScryptCost,
} from "../keystore.ts";
import { createRawKey } from "./key.ts";

/** Generates and encrypts a private key. Only tests lower `cost`. */
export async function createEvmKeystore(
  passphrase: Secret,
  cost?: ScryptCost,
): Promise<{ readonly keystore: Keystore; readonly address: EvmAddress }> {
  const key = new Secret(`0x${randomBytes(32).toString("hex")}`);
  return encryptEvmKey(key, passphrase, cost);
}

/** Encrypts a private key. */
export async function encryptEvmKey(
  key: Secret,
  passphrase: Secret,
  cost?: ScryptCost,
): Promise<{ readonly keystore: Keystore; readonly address: EvmAddress }> {
  const { address } = createRawKey(key, "a keystore");
  return { keystore: await encryptKeystore({ key, address }, passphrase, cost), address };
}

/** Decrypts a private key. Throws CONFIG_MISSING as `decryptKeystore` does, and for bytes that are not a private key. */
export async function decryptEvmKeystore(
  keystore: Keystore,
  passphrase: Secret,
  whose: string,
): Promise<KeptKey> {
  const addressOf = (key: Secret) => createRawKey(key, whose).address;
  return decryptKeystore(keystore, { passphrase, whose, addressOf });
}
