/** The keys of the configuration and their accounts, as the commands list them. */
import { toBase58 } from "../../chains/solana/base58.ts";
import { type Config, type KeyConfig, listLaneKeys, listSolanaChains } from "../../config/index.ts";
import type { Secret } from "../../core/secret.ts";
import { createSeed, ROLES } from "../../signers/solana/seed.ts";

export interface ShownKey {
  /** The setting of the key; for an account of the seed, the setting that takes its address. */
  readonly setting: string;
  /** Where the key is, such as `keystore`; `seed` if it is derived from the seed. */
  readonly kind: string;
  readonly address: string;
}

/** Lists the keys of EVM accounts. */
export function listKeys(config: Config): readonly KeyConfig[] {
  return [...listLaneKeys(config), config.attestor.key];
}

/** Lists the seeds of Solana. */
export function listSeeds(config: Config): readonly KeyConfig[] {
  return listSolanaChains(config).map(({ seed }) => seed);
}

/** Lists the accounts of a seed, each with the setting that takes its address, next to the seed's. */
export function accountsOfSeed(seed: Secret, setting: string): ShownKey[] {
  const { accounts } = createSeed(seed, setting);
  return ROLES.map((role) => ({
    setting: settingOf(setting, role),
    kind: "seed",
    address: toBase58(accounts[role]),
  }));
}

/** Returns the settings of the keys that settings name, with those of the accounts of a seed. */
export function listSettings(settings: readonly string[]): readonly string[] {
  const seeds = settings.filter((setting) => setting.endsWith("seed"));
  return [...settings, ...seeds.flatMap((seed) => ROLES.map((role) => settingOf(seed, role)))];
}

/** Returns the setting that takes the address of an account of a seed, next to the seed's. */
function settingOf(seed: string, role: string): string {
  return seed.replace(/seed$/, `contracts.${role}`);
}

/** Formats keys as a table, with instructions for the accounts of a seed. */
export function formatKeys(shown: readonly ShownKey[]): readonly string[] {
  const format = createKeyFormat(shown.map(({ setting }) => setting));
  return [...shown.map(format), ...describeSeed(shown)];
}

/** Returns the function that formats one key as a line of a table of these settings. */
export function createKeyFormat(settings: readonly string[]): (key: ShownKey) => string {
  const width = Math.max(...settings.map((setting) => setting.length));
  return ({ setting, kind, address }) =>
    `${setting.padEnd(width)}  ${kind.padEnd("keystore".length)}  ${address}`;
}

/** Returns the instructions for the accounts of a seed, if there are any. */
export function describeSeed(shown: readonly ShownKey[]): readonly string[] {
  if (!shown.some(({ kind }) => kind === "seed")) return [];
  return ["Copy the address of each account of the seed into the setting next to it."];
}
