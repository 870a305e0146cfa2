import { toChecksumAddress } from "../../chains/evm/checksum.ts";
import type { Config } from "../../config/index.ts";
import { type AskPassphrase, createKeyOpener } from "../../roles/key-opener.ts";
import { listAccounts } from "../../roles/key-accounts.ts";
import type { Call, Result } from "../command.ts";
import { accountsOfSeed, formatKeys, listSeeds, type ShownKey } from "./accounts.ts";

/** Lists the account of every key. */
export async function run(call: Call): Promise<Result> {
  const keys = await showKeys(call.readConfig({ keysOf: "all" }), call.askPassphrase);
  return { json: { keys }, text: formatKeys(keys).join("\n") };
}

/** Lists the accounts of the configured keys. Opens only seeds, whose accounts are stored nowhere else. */
export async function showKeys(
  config: Config,
  askPassphrase: AskPassphrase,
): Promise<readonly ShownKey[]> {
  // Reads the key files, so that signers need not run.
  const here = {
    ...config,
    signers: { settler: undefined, attestor: undefined, vaults: undefined },
  };
  const accounts = await listAccounts(here);
  const shown = accounts.map(({ setting, kind, address }) => ({
    setting,
    kind,
    address: toChecksumAddress(address),
  }));
  const open = createKeyOpener(config, askPassphrase);
  for (const key of listSeeds(config)) {
    shown.push(...accountsOfSeed(await open.seed(key), key.setting));
  }
  return shown;
}
