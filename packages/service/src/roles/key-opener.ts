/** Opens the keys of the configuration, and asks for the passphrase of its keystores. */
import { readFileSync } from "node:fs";
import { type Config, type KeyConfig, listLaneKeys, listSolanaChains } from "../config/index.ts";
import { assertNever, Bug } from "../core/assert.ts";
import { OperatingError } from "../core/errors.ts";
import type { Secret } from "../core/secret.ts";
import { createRawKey, type EvmKey } from "../signers/evm/key.ts";
import { decryptEvmKeystore } from "../signers/evm/keystore.ts";
import { openKmsKey } from "../signers/evm/kms-key.ts";
import { type Keystore, parseKeystore } from "../signers/keystore.ts";
import { decryptSeed } from "../signers/solana/keystore.ts";
import { systemClock, systemHttp } from "./system-ports.ts";

/** Asks a person for the passphrase of the keystores. */
export type AskPassphrase = (question?: string) => Promise<Secret>;

/** Asks for the passphrase at the start: a standby opens its keys only when it takes over, possibly unattended. */
export async function askEarly(
  config: Config,
  askPassphrase: AskPassphrase,
): Promise<AskPassphrase> {
  const keys = [
    ...listLaneKeys(config),
    ...listSolanaChains(config).map(({ seed }) => seed),
    config.attestor.key,
  ];
  const isNeeded = keys.some(({ source }) => source.kind === "keystore");
  if (!isNeeded || config.keystorePassphrase) return askPassphrase;
  const passphrase = await askPassphrase();
  return async () => passphrase;
}

/** Opens the configured keys, each on first use. */
export interface KeyOpener {
  key(key: KeyConfig): Promise<EvmKey>;
  /** The seed from which every account on Solana is derived. */
  seed(key: KeyConfig): Promise<Secret>;
}

/** Opens keys one after another, so that a person types the passphrase once. */
export function createKeyOpener(config: Config, askPassphrase: AskPassphrase): KeyOpener {
  let asked: Promise<Secret> | undefined;
  const readPassphrase = () => (asked ??= getPassphrase(config, askPassphrase));
  // One key often sends on every chain, and each decryption takes about a second on purpose.
  const decrypted = new Map<string, Secret>();
  return {
    async key({ setting, source }) {
      switch (source.kind) {
        case "raw":
          return createRawKey(source.key, setting);
        case "keystore": {
          const known = decrypted.get(source.path);
          if (known) return createRawKey(known, setting);
          const keystore = readKeystore(source.path, setting);
          const { key } = await decryptEvmKeystore(keystore, await readPassphrase(), setting);
          decrypted.set(source.path, key);
          return createRawKey(key, setting);
        }
        case "kms":
          return openKmsKey(source, { setting, credentials: config.aws });
        case "google_kms": {
          // Loaded only where it is used.
          const { openGoogleKmsKey } = await import("../signers/evm/google-kms-key.ts");
          return openGoogleKmsKey(source, {
            setting,
            credentials: config.google,
            http: systemHttp,
            clock: systemClock,
          });
        }
        case "elsewhere":
          throw new Bug("a key was opened by a process that does not hold it");
        default:
          return assertNever(source);
      }
    },
    async seed({ setting, source }) {
      if (source.kind === "raw") return source.key;
      if (source.kind !== "keystore") throw new Bug("a seed is a keystore, or given as it is");
      const keystore = readKeystore(source.path, setting);
      return (await decryptSeed(keystore, await readPassphrase(), setting)).key;
    },
  };
}

/** Returns the passphrase of the keystores, from the setting or from a person. */
export async function getPassphrase(
  config: Pick<Config, "keystorePassphrase">,
  askPassphrase: AskPassphrase,
): Promise<Secret> {
  return config.keystorePassphrase ?? askPassphrase();
}

/** Reads a keystore's file. Throws CONFIG_MISSING with the setting's name. */
export function readKeystore(path: string, setting: string): Keystore {
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch (cause) {
    throw new OperatingError(
      "CONFIG_MISSING",
      `${setting}: expected a readable keystore at ${path}; \`sluice keys init\` creates missing keystores`,
      { cause },
    );
  }
  return parseKeystore(text, setting);
}
