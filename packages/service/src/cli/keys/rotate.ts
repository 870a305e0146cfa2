import { existsSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { toChecksumAddress } from "../../chains/evm/checksum.ts";
import { type Config, type KeyConfig, LANE_PURPOSES } from "../../config/index.ts";
import { OperatingError } from "../../core/errors.ts";
import { type AskPassphrase, getPassphrase, readKeystore } from "../../roles/key-opener.ts";
import { decryptEvmKeystore } from "../../signers/evm/keystore.ts";
import type { Call, Result } from "../command.ts";
import { listKeys } from "./accounts.ts";
import { makeKeystore } from "./keystores.ts";

/** Creates the successor of a key, and lists the steps that put it into use. */
export async function run(
  { readConfig, askPassphrase }: Call,
  { setting }: { readonly setting: string },
): Promise<Result> {
  const made = await rotateKey(readConfig({ keysOf: "all" }), { setting, askPassphrase });
  const steps = made.steps.map((step, index) => `${index + 1}. ${step}`);
  const heading = `${made.address} is in ${made.keystore}. Nothing has changed yet:`;
  return { json: made, text: [heading, ...steps].join("\n") };
}

/**
 * Creates the successor of a key in the same folder; nothing that runs changes. Its passphrase is that of the others.
 * @throws OperatingError CONFIG_MISSING when the setting names no keystore.
 */
export async function rotateKey(
  config: Config,
  { setting, askPassphrase }: { readonly setting: string; readonly askPassphrase: AskPassphrase },
): Promise<{ readonly keystore: string; readonly address: string; readonly steps: string[] }> {
  const key = listKeys(config).find((known) => known.setting === setting);
  const known = listKeys(config)
    .filter(({ source }) => source.kind === "keystore")
    .map((one) => one.setting);
  if (key?.source.kind !== "keystore") {
    throw new OperatingError(
      "CONFIG_MISSING",
      `${setting}: expected the setting of a keystore` +
        (known.length > 0 ? `, one of ${known.join(", ")}` : "; the configuration names none"),
    );
  }
  const { path } = key.source;
  // Opening the old key first proves that the new one gets the same passphrase.
  const passphrase = await getPassphrase(config, askPassphrase);
  await decryptEvmKeystore(readKeystore(path, setting), passphrase, setting);
  const successor = findFreePath(path);
  const address = toChecksumAddress(await makeKeystore(successor, passphrase, setting));
  return { keystore: successor, address, steps: listSteps(key, { path, successor, address }) };
}

/** Returns the next file name: `settle.json`, `settle-2.json`, `settle-3.json`. */
function findFreePath(path: string): string {
  const stem = basename(path).replace(/(-\d+)?\.json$/, "");
  for (let number = 2; ; number += 1) {
    const free = join(dirname(path), `${stem}-${number}.json`);
    if (!existsSync(free)) return free;
  }
}

/** Returns the operator's next steps, in an order that interrupts nothing. */
function listSteps(
  { setting }: KeyConfig,
  made: { readonly path: string; readonly successor: string; readonly address: string },
): string[] {
  const { path, successor, address } = made;
  if (setting === "attestor.key") {
    return [
      `The owner schedules ${address} as attestor of the factory on every chain, and executes it after the delay.`,
      `Set attestor.key to { "keystore": "${successor}" } and start the attestor's signer again.`,
      "When no lock is open any more, the guardian removes the old attestor from the factory.",
    ];
  }
  const purpose = LANE_PURPOSES.find((known) => setting.includes(`.lanes.${known}`));
  const authority = {
    deploy: "Anybody may deploy: no contract needs to know the account.",
    settle: `The owner lists ${address} as a relayer: setRelayer(${address}, true) on the factory.`,
    claim: `The owner lists ${address} as a relayer: setRelayer(${address}, true) on the factory.`,
    deliver: `The owner schedules ${address} as a settler of the delivery contract, and executes it after the delay.`,
  }[purpose ?? "deploy"];
  return [
    authority,
    `Send native coin for gas to ${address}.`,
    `In the list ${setting.replace(/\[\d+\]$/, "")} put { "keystore": "${successor}" }, and keep the old one next to it as { "keystore": "${path}", "retired": true }: it finishes its open transactions.`,
    "Start the settler's signer and the settler again.",
    "When it has no open transactions, remove it from the setting, revoke its role, and send its remaining coin to a treasury.",
  ];
}
