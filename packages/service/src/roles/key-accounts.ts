/** Lists the accounts of the configuration. */
import { existsSync } from "node:fs";
import {
  type Config,
  type KeyConfig,
  LANE_PURPOSES,
  type LanePurpose,
  listEvmChains,
  listLaneKeys,
} from "../config/index.ts";
import { Bug } from "../core/assert.ts";
import { OperatingError } from "../core/errors.ts";
import type { Address } from "../core/hex.ts";
import type { HeldSigners } from "../signers/server.ts";
import { addressOfKeystore } from "../signers/keystore.ts";
import { createKeyOpener, readKeystore } from "./key-opener.ts";
import { askSigner, lacking } from "./keys.ts";

/** An account of the configuration. */
export interface KeyAccount {
  /** The setting of the key. */
  readonly setting: string;
  /** Where the key is, such as `keystore`. */
  readonly kind: string;
  /** Within its chain: `settle`, `settle[1]`, `attestor`. */
  readonly name: string;
  readonly address: Address;
  /** Null for the attestor. */
  readonly lane: {
    readonly chainId: number;
    readonly purpose: LanePurpose;
    readonly retired: boolean;
  } | null;
}

/**
 * Lists every configured account, as the signers at the sockets of the configuration state it; without one from the key files,
 * whose keystores stay closed. Where the attestor's key is on another machine, the accounts of `attestors.accounts` take
 * its place. `early` reads key files also where a signer does not answer, for commands that run before the signers.
 * @throws OperatingError that names the setting of a key that cannot be read, RPC_UNAVAILABLE when a signer does not answer.
 */
export async function listAccounts(
  config: Config,
  { early = false }: { readonly early?: boolean } = {},
): Promise<readonly KeyAccount[]> {
  const settler = await askSigner(config, "settler").catch((error: unknown) => {
    if (early && isAway(error)) return null;
    throw error;
  });
  return [...(await listLanes(config, settler)), ...(await listAttestors(config, early))];
}

/** Lists the accounts of the key files that the configuration was read with. */
export async function listKeyFiles(config: Config): Promise<readonly KeyAccount[]> {
  const isHere = ({ source }: KeyConfig) => source.kind !== "elsewhere";
  const lanes = listLaneKeys(config).every(isHere) ? await listLanes(config, null) : [];
  return isHere(config.attestor.key) ? [...lanes, await readAttestor(config)] : lanes;
}

async function listLanes(
  config: Config,
  settler: HeldSigners | null,
): Promise<readonly KeyAccount[]> {
  const accounts: KeyAccount[] = [];
  for (const { chainId, lanes } of listEvmChains(config)) {
    for (const purpose of LANE_PURPOSES) {
      const held = settler?.lanes.filter(
        (lane) => lane.chainId === chainId && lane.purpose === purpose,
      );
      for (const [index, key] of lanes[purpose].entries()) {
        const { setting, retired, source } = key;
        const lane = { chainId, purpose, retired };
        const name = index === 0 ? purpose : `${purpose}[${index}]`;
        const kind = held ? "signer" : source.kind;
        const address = held ? held[index]?.address : await readAddress(config, key);
        if (!address) throw lacking("settler", setting);
        accounts.push({ setting, kind, name, address, lane });
      }
    }
  }
  return accounts;
}

/** Lists the attestor of this machine, or else those that the configuration names. */
async function listAttestors(config: Config, early: boolean): Promise<readonly KeyAccount[]> {
  const { key } = config.attestor;
  const { source, setting } = key;
  const named = config.attestors.accounts.map((address, index) => ({
    setting: `attestors.accounts[${index}]`,
    kind: "named",
    name: index === 0 ? "attestor" : `attestor[${index}]`,
    address,
    lane: null,
  }));
  const isHere = source.kind === "keystore" ? existsSync(source.path) : source.kind !== "elsewhere";
  try {
    const remote = await askSigner(config, "attestor");
    if (remote && !remote.attestor) throw lacking("attestor", setting);
    if (remote?.attestor) {
      const { address } = remote.attestor;
      return [{ setting, kind: "signer", name: "attestor", address, lane: null }];
    }
    if (isHere || named.length === 0) return [await readAttestor(config)];
  } catch (error) {
    if (!isAway(error)) throw error;
    if (early && isHere) return [await readAttestor(config)];
    if (named.length === 0) {
      throw new OperatingError(
        "RPC_UNAVAILABLE",
        `${error.message} If it is on another machine, name its account in attestors.accounts.`,
        { cause: error },
      );
    }
  }
  return named;
}

async function readAttestor(config: Config): Promise<KeyAccount> {
  const { key } = config.attestor;
  const address = await readAddress(config, key);
  return { setting: key.setting, kind: key.source.kind, name: "attestor", address, lane: null };
}

/** Reports whether an error says that a signer does not answer. */
function isAway(error: unknown): error is OperatingError {
  return error instanceof OperatingError && error.code === "RPC_UNAVAILABLE";
}

async function readAddress(config: Config, key: KeyConfig): Promise<Address> {
  const { source, setting } = key;
  if (source.kind === "keystore") {
    const stated = addressOfKeystore(readKeystore(source.path, setting));
    if (stated) return stated;
    throw new OperatingError("CONFIG_MISSING", `${setting}: expected an address in the keystore`);
  }
  const refuse = () => Promise.reject(new Bug("only keystores have a passphrase"));
  return (await createKeyOpener(config, refuse).key(key)).address;
}
