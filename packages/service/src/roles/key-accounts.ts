/** Lists the accounts of the configuration. */
import {
  type Config,
  type KeyConfig,
  LANE_PURPOSES,
  type LanePurpose,
  listEvmChains,
} from "../config/index.ts";
import { Bug } from "../core/assert.ts";
import { OperatingError } from "../core/errors.ts";
import type { Address } from "../core/hex.ts";
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

/** Lists every configured account without opening a keystore: the address is read from its file, unverified. */
export async function listAccounts(config: Config): Promise<readonly KeyAccount[]> {
  const remote = {
    settler: await askSigner(config, "settler"),
    attestor: await askSigner(config, "attestor"),
  };
  const accounts: KeyAccount[] = [];
  for (const { chainId, lanes } of listEvmChains(config)) {
    for (const purpose of LANE_PURPOSES) {
      const held = remote.settler?.lanes.filter(
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
  const { key } = config.attestor;
  const kind = remote.attestor ? "signer" : key.source.kind;
  const address = remote.attestor
    ? remote.attestor.attestor?.address
    : await readAddress(config, key);
  if (!address) throw lacking("attestor", key.setting);
  return [...accounts, { setting: key.setting, kind, name: "attestor", address, lane: null }];
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
