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
    setting: setting.replace(/seed$/, `contracts.${role}`),
    kind: "seed",
    address: toBase58(accounts[role]),
  }));
}

/** Formats keys as a table, with instructions for the accounts of a seed. */
export function formatKeys(shown: readonly ShownKey[]): readonly string[] {
  const width = Math.max(...shown.map(({ setting }) => setting.length));
  const lines = shown.map(
    ({ setting, kind, address }) =>
      `${setting.padEnd(width)}  ${kind.padEnd("keystore".length)}  ${address}`,
  );
  if (!shown.some(({ kind }) => kind === "seed")) return lines;
  return [...lines, "Copy the address of each account of the seed into the setting next to it."];
}
