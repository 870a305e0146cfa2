import { existsSync } from "node:fs";
import { toChecksumAddress } from "../../chains/evm/checksum.ts";
import type { Config } from "../../config/index.ts";
import type { Secret } from "../../core/secret.ts";
import type { AskPassphrase } from "../../roles/key-opener.ts";
import { drawSeed } from "../../signers/solana/seed.ts";
import type { Call, Result } from "../command.ts";
import { accountsOfSeed, formatKeys, listKeys, listSeeds, type ShownKey } from "./accounts.ts";
import { makeKeystore, refuseShort, typePassphrase, writeSeed } from "./keystores.ts";

/** Creates the keystores that the configuration names and that do not exist. */
export async function run(call: Call): Promise<Result> {
  const made = await initKeys(call.readConfig({ keysOf: "all" }), call.askPassphrase);
  const lines =
    made.length === 0 ? ["Nothing to create: every keystore exists."] : [...formatKeys(made)];
  if (made.some(({ kind }) => kind === "seed")) {
    lines.push("Back up the seed before the first vault is issued: sluice keys backup-seed.");
  }
  return { json: { made }, text: lines.join("\n") };
}

/** Creates every missing keystore of the configuration. Never changes an existing one. */
export async function initKeys(
  config: Config,
  askPassphrase: AskPassphrase,
): Promise<readonly ShownKey[]> {
  const seeds = listSeeds(config);
  const named = [...listKeys(config), ...seeds].flatMap(({ setting, source }) =>
    source.kind === "keystore" && !existsSync(source.path) ? [{ setting, path: source.path }] : [],
  );
  // One key may be a lane of several chains.
  const missing = named.filter(
    ({ path }, index) => named.findIndex((other) => other.path === path) === index,
  );
  if (missing.length === 0) return [];
  const passphrase = await choosePassphrase(config, askPassphrase);
  const made: ShownKey[] = [];
  for (const { setting, path } of missing) {
    if (seeds.some((seed) => seed.setting === setting)) {
      const seed = drawSeed();
      const { binding } = await writeSeed(path, { seed, passphrase, setting });
      made.push({ setting, kind: "keystore", address: binding }, ...accountsOfSeed(seed, setting));
    } else {
      const address = await makeKeystore(path, passphrase, setting);
      made.push({ setting, kind: "keystore", address: toChecksumAddress(address) });
    }
  }
  return made;
}

/** Asks twice for a typed passphrase, since a mistyped one would lock the keys permanently. */
async function choosePassphrase(config: Config, askPassphrase: AskPassphrase): Promise<Secret> {
  const { keystorePassphrase } = config;
  if (!keystorePassphrase) return typePassphrase(askPassphrase);
  refuseShort(keystorePassphrase);
  return keystorePassphrase;
}
