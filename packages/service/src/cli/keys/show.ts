import { toChecksumAddress } from "../../chains/evm/checksum.ts";
import type { Config, KeyConfig, SignerName } from "../../config/index.ts";
import { type AskPassphrase, createKeyOpener } from "../../roles/key-opener.ts";
import { listKeyFiles } from "../../roles/key-accounts.ts";
import type { Call, Result } from "../command.ts";
import { accountsOfSeed, formatKeys, listSeeds, type ShownKey } from "./accounts.ts";

/** Lists the account of every key. */
export async function run(
  call: Call,
  { for: owner }: { readonly for: SignerName | undefined },
): Promise<Result> {
  const config = call.readConfig({ keysOf: owner ?? "all", accountsLater: true });
  const keys = await showKeys(config, call.askPassphrase);
  return { json: { keys }, text: formatKeys(keys).join("\n") };
}

/** Lists the accounts of the configured keys. Opens only seeds, whose accounts are stored nowhere else. */
export async function showKeys(
  config: Config,
  askPassphrase: AskPassphrase,
): Promise<readonly ShownKey[]> {
  const accounts = await listKeyFiles(config);
  const shown = accounts.map(({ setting, kind, address }) => ({
    setting,
    kind,
    address: toChecksumAddress(address),
  }));
  const open = createKeyOpener(config, askPassphrase);
  const isHere = ({ source }: KeyConfig) => source.kind !== "elsewhere";
  for (const key of listSeeds(config).filter(isHere)) {
    shown.push(...accountsOfSeed(await open.seed(key), key.setting));
  }
  return shown;
}
