import { existsSync } from "node:fs";
import { toChecksumAddress } from "../../chains/evm/checksum.ts";
import type { Config, KeyConfig, SignerName } from "../../config/index.ts";
import type { Secret } from "../../core/secret.ts";
import type { AskPassphrase } from "../../roles/key-opener.ts";
import { drawSeed } from "../../signers/solana/seed.ts";
import type { Call, Result } from "../command.ts";
import {
  accountsOfSeed,
  createKeyFormat,
  describeSeed,
  listKeys,
  listSeeds,
  listSettings,
  type ShownKey,
} from "./accounts.ts";
import { makeKeystore, refuseShort, typePassphrase, writeSeed } from "./keystores.ts";

/** Creates the keystores that the configuration names and that do not exist, and prints each as it is made. */
export async function run(
  call: Call,
  { for: owner }: { readonly for: SignerName | undefined },
): Promise<Result> {
  const config = call.readConfig({ keysOf: owner ?? "all", accountsLater: true });
  const missing = listMissing(config);
  const format = createKeyFormat(listSettings(missing.map(({ setting }) => setting)));
  const made = await createKeys(config, {
    missing,
    askPassphrase: call.askPassphrase,
    onMade: (key) => call.report(format(key)),
  });
  const lines =
    made.length === 0 ? ["Nothing to create: every keystore exists."] : describeSeed(made);
  const backup = made.some(({ kind }) => kind === "seed")
    ? ["Back up the seed before the first vault is issued: sluice keys backup-seed."]
    : [];
  return { json: { made }, text: [...lines, ...backup].join("\n") };
}

interface MissingKey {
  readonly setting: string;
  readonly path: string;
  readonly isSeed: boolean;
}

/** Lists the keystores of the configuration that do not exist. */
function listMissing(config: Config): readonly MissingKey[] {
  const list = (keys: readonly KeyConfig[], isSeed: boolean) =>
    keys.flatMap(({ setting, source }) =>
      source.kind === "keystore" && !existsSync(source.path)
        ? [{ setting, path: source.path, isSeed }]
        : [],
    );
  const named = [...list(listKeys(config), false), ...list(listSeeds(config), true)];
  // One key may be a lane of several chains.
  return named.filter(
    ({ path }, index) => named.findIndex((other) => other.path === path) === index,
  );
}

/** Creates keystores. Never changes an existing one. */
async function createKeys(
  config: Config,
  {
    missing,
    askPassphrase,
    onMade,
  }: {
    readonly missing: readonly MissingKey[];
    readonly askPassphrase: AskPassphrase;
    readonly onMade: (key: ShownKey) => Promise<void>;
  },
): Promise<readonly ShownKey[]> {
  if (missing.length === 0) return [];
  const passphrase = await choosePassphrase(config, askPassphrase);
  const made: ShownKey[] = [];
  for (const { setting, path, isSeed } of missing) {
    const keys = isSeed
      ? await createSeedKeys(path, setting, passphrase)
      : [{ setting, kind: "keystore", address: await makeAccount(path, setting, passphrase) }];
    for (const key of keys) await onMade(key);
    made.push(...keys);
  }
  return made;
}

async function makeAccount(path: string, setting: string, passphrase: Secret): Promise<string> {
  return toChecksumAddress(await makeKeystore(path, passphrase, setting));
}

async function createSeedKeys(
  path: string,
  setting: string,
  passphrase: Secret,
): Promise<readonly ShownKey[]> {
  const seed = drawSeed();
  const { binding } = await writeSeed(path, { seed, passphrase, setting });
  return [{ setting, kind: "keystore", address: binding }, ...accountsOfSeed(seed, setting)];
}

/** Asks twice for a typed passphrase, since a mistyped one would lock the keys permanently. */
async function choosePassphrase(config: Config, askPassphrase: AskPassphrase): Promise<Secret> {
  const { keystorePassphrase } = config;
  if (!keystorePassphrase) return typePassphrase(askPassphrase);
  refuseShort(keystorePassphrase);
  return keystorePassphrase;
}
