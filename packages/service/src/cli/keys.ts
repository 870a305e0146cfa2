/** `sluice keys`: makes keystores, shows accounts, prepares the change of a key, and proves a signer's journal. */
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { toChecksumAddress } from "../chains/evm/checksum.ts";
import { toBase58 } from "../chains/solana/base58.ts";
import {
  type Config,
  type KeyConfig,
  LANE_PURPOSES,
  listLaneKeys,
  listSolanaChains,
  SIGNER_NAMES,
} from "../config/index.ts";
import { OperatingError } from "../core/errors.ts";
import type { Address } from "../core/hex.ts";
import type { Secret } from "../core/secret.ts";
import { createEvmKeystore, decryptEvmKeystore } from "../signers/evm/keystore.ts";
import { verifyJournal } from "../signers/journal.ts";
import type { Keystore, ScryptCost } from "../signers/keystore.ts";
import { encryptSeed } from "../signers/solana/keystore.ts";
import { createSeed, drawSeed, ROLES } from "../signers/solana/seed.ts";
import {
  type AskPassphrase,
  getPassphrase,
  journalPath,
  createKeyOpener,
  listAccounts,
  readKeystore,
} from "../roles/keys.ts";

const PASSPHRASE_LENGTH_MIN = 12;

export interface ShownKey {
  /** Of the key; of an account of the seed, the one that it has to be written into. */
  readonly setting: string;
  /** Where the key is, such as `keystore`; `seed` where it follows from the seed. */
  readonly kind: string;
  readonly address: string;
}

/** Makes every keystore that the configuration names and that is not there. Never touches one that is. */
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

/** The accounts of the configured keys. Only a seed is opened for it: what follows from it is stated nowhere else. */
export async function showKeys(
  config: Config,
  askPassphrase: AskPassphrase,
): Promise<readonly ShownKey[]> {
  // From where the keys are, whether their signers run or not.
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

/**
 * Makes the successor of a key, beside it: nothing that runs changes. Its passphrase is the one of the others.
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
  // Whoever cannot open the old one would lock the new one with something else.
  const passphrase = await getPassphrase(config, askPassphrase);
  await decryptEvmKeystore(readKeystore(path, setting), passphrase, setting);
  const successor = findFreePath(path);
  const address = toChecksumAddress(await makeKeystore(successor, passphrase, setting));
  return { keystore: successor, address, steps: listSteps(key, { path, successor, address }) };
}

/** Proves the journals that there are. Throws CONFIG_MISSING that names the line when one was tampered with. */
export function verifyJournals(
  config: Config,
): readonly { readonly journal: string; readonly count: number; readonly hash: string }[] {
  return SIGNER_NAMES.map((name) => journalPath(config, name))
    .filter((path) => existsSync(path))
    .map((journal) => ({ journal, ...verifyJournal(journal) }));
}

function listKeys(config: Config): readonly KeyConfig[] {
  return [...listLaneKeys(config), config.attestor.key];
}

function listSeeds(config: Config): readonly KeyConfig[] {
  return listSolanaChains(config).map(({ seed }) => seed);
}

/** Each with the setting that it has to be written into, beside the seed's. */
function accountsOfSeed(seed: Secret, setting: string): ShownKey[] {
  const { accounts } = createSeed(seed, setting);
  return ROLES.map((role) => ({
    setting: setting.replace(/seed$/, `contracts.${role}`),
    kind: "seed",
    address: toBase58(accounts[role]),
  }));
}

/** Typed twice where it is typed: nobody can help whoever mistypes it once. */
async function choosePassphrase(config: Config, askPassphrase: AskPassphrase): Promise<Secret> {
  const { keystorePassphrase } = config;
  if (!keystorePassphrase) return typePassphrase(askPassphrase);
  refuseShort(keystorePassphrase);
  return keystorePassphrase;
}

/** A new passphrase from a person. Throws CONFIG_MISSING for one that is short, or mistyped. */
export async function typePassphrase(
  askPassphrase: AskPassphrase,
  question?: string,
): Promise<Secret> {
  const passphrase = await askPassphrase(question);
  refuseShort(passphrase);
  const again = await askPassphrase("The same again: ");
  if (again.reveal() === passphrase.reveal()) return passphrase;
  throw new OperatingError("CONFIG_MISSING", "keystorePassphrase: expected the same twice");
}

function refuseShort(passphrase: Secret): void {
  if (passphrase.reveal().length >= PASSPHRASE_LENGTH_MIN) return;
  throw new OperatingError(
    "CONFIG_MISSING",
    `keystorePassphrase: expected at least ${PASSPHRASE_LENGTH_MIN} characters`,
  );
}

async function makeKeystore(path: string, passphrase: Secret, setting: string): Promise<Address> {
  const { keystore, address } = await createEvmKeystore(passphrase);
  writeKeystore(path, keystore, setting);
  return address;
}

/** Writes a seed's keystore. Throws CONFIG_MISSING where there is one. */
export async function writeSeed(
  path: string,
  {
    seed,
    passphrase,
    setting,
    cost,
  }: {
    readonly seed: Secret;
    readonly passphrase: Secret;
    readonly setting: string;
    /** Lower in tests alone. */
    readonly cost?: ScryptCost | undefined;
  },
): Promise<{ readonly binding: string }> {
  const { keystore, binding } = await encryptSeed(seed, passphrase, cost);
  writeKeystore(path, keystore, setting);
  return { binding: toBase58(binding) };
}

/** Writes a keystore's file, which only its user may read. Throws CONFIG_MISSING where there is one. */
export function writeKeystore(path: string, keystore: Keystore, setting: string): void {
  try {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    writeFileSync(path, `${JSON.stringify(keystore, null, 2)}\n`, { mode: 0o600, flag: "wx" });
  } catch (cause) {
    throw new OperatingError("CONFIG_MISSING", `${setting}: expected to be able to write ${path}`, {
      cause,
    });
  }
}

/** `settle.json`, `settle-2.json`, `settle-3.json`. */
function findFreePath(path: string): string {
  const stem = basename(path).replace(/(-\d+)?\.json$/, "");
  for (let number = 2; ; number += 1) {
    const free = join(dirname(path), `${stem}-${number}.json`);
    if (!existsSync(free)) return free;
  }
}

/** What a person does next, in the order in which nothing stops. */
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
    deliver: `The owner schedules ${address} as a settler of the delivery contract, and executes it after the delay.`,
  }[purpose ?? "deploy"];
  return [
    authority,
    `Send native coin for gas to ${address}.`,
    `In the list ${setting.replace(/\[\d+\]$/, "")} put { "keystore": "${successor}" }, and keep the old one beside it as { "keystore": "${path}", "retired": true }: it ends what it began.`,
    "Start the settler's signer and the settler again.",
    "When it has nothing open any more, take it out of the setting, take its role away, and send what it has left to a treasury.",
  ];
}
