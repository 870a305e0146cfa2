/**
 * Private keys, one file each under `keys/`, generated at random on first use. They never leave the state directory,
 * except those of the funded accounts, which are in the descriptor.
 */
import { randomBytes } from "node:crypto";
import { linkSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { isHex, type Hex, type PrivateKeyAccount } from "viem";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { CHAIN_SPECS, type ChainName } from "./chain-specs.ts";
import { SandboxError } from "./errors.ts";
import { isErrno } from "./json-file.ts";

/** Number of funded accounts per chain, for tests and demos. */
export const PAYERS_PER_CHAIN = 3;

/** A private key and its file. */
export interface Key {
  readonly path: string;
  readonly privateKey: Hex;
  readonly account: PrivateKeyAccount;
}

/** The keys of the lanes of one chain. */
export interface LaneKeys {
  readonly deploy: Key;
  readonly settle: Key;
  readonly deliver: Key;
  readonly claim: Key;
}

/** Every key of a sandbox. */
export interface SandboxKeys {
  readonly owner: Key;
  readonly guardian: Key;
  readonly treasury: Key;
  readonly feeRecipient: Key;
  readonly attestor: Key;
  /** Listed from the start and used by nobody, until the attestor's key is lost. */
  readonly coldAttestor: Key;
  /** Keys of the stand-ins for Circle's attesters. Both must sign. */
  readonly attesters: readonly Key[];
  /** Mints the token. */
  readonly faucet: Key;
  /** Seed of the service's accounts on the Solana chain, and key of its treasury there. */
  readonly solanaSeed: Key;
  readonly solanaTreasury: Key;
  readonly lanes: Readonly<Record<ChainName, LaneKeys>>;
  readonly payers: Readonly<Record<ChainName, readonly Key[]>>;
}

/** Reads the keys of a state directory and generates missing ones. */
export function loadKeys(dir: string): SandboxKeys {
  const key = (name: string) => loadKey(dir, name);
  const lanes = (chain: ChainName): LaneKeys => ({
    deploy: key(`${chain}-deploy`),
    settle: key(`${chain}-settle`),
    deliver: key(`${chain}-deliver`),
    claim: key(`${chain}-claim`),
  });
  const payers = (chain: ChainName) =>
    Array.from({ length: PAYERS_PER_CHAIN }, (_, index) => key(`${chain}-payer-${index + 1}`));
  return {
    owner: key("owner"),
    guardian: key("guardian"),
    treasury: key("treasury"),
    feeRecipient: key("fee-recipient"),
    attestor: key("attestor"),
    coldAttestor: key("cold-attestor"),
    attesters: [key("cctp-attester-1"), key("cctp-attester-2")],
    faucet: key("faucet"),
    solanaSeed: key("solana-seed"),
    solanaTreasury: key("solana-treasury"),
    lanes: { ethereum: lanes("ethereum"), base: lanes("base") },
    payers: { ethereum: payers("ethereum"), base: payers("base") },
  };
}

/** Reads one key, or generates it. */
export function loadKey(dir: string, name: string): Key {
  const path = join(dir, `${name}.key`);
  const privateKey = loadSecret(path, generatePrivateKey);
  if (!isHex(privateKey) || privateKey.length !== 66) {
    throw new SandboxError(`${path} is not a private key: start again with --fresh`);
  }
  return { path, privateKey, account: privateKeyToAccount(privateKey) };
}

/** Reads the 32-byte seed of an Ed25519 key, or generates it. */
export function loadSeed(path: string): Uint8Array {
  const seed = Buffer.from(
    loadSecret(path, () => randomBytes(32).toString("hex")),
    "hex",
  );
  if (seed.length !== 32) {
    throw new SandboxError(`${path} is not a private key: start again with --fresh`);
  }
  return Uint8Array.from(seed);
}

/** Returns the path of the pepper of API keys. Generates the file if it is missing. */
export function loadPepper(dir: string): string {
  const path = join(dir, "api-key-pepper.key");
  loadSecret(path, () => randomBytes(32).toString("hex"));
  return path;
}

/** Returns the accounts of the lanes of every chain. */
export function laneAccounts(keys: SandboxKeys): readonly PrivateKeyAccount[] {
  return CHAIN_SPECS.flatMap(({ name }) => {
    const { deploy, settle, deliver, claim } = keys.lanes[name];
    return [deploy.account, settle.account, deliver.account, claim.account];
  });
}

function loadSecret(path: string, generate: () => string): string {
  try {
    return readFileSync(path, "utf8").trim();
  } catch (error) {
    if (!isErrno(error, "ENOENT")) throw error;
  }
  mkdirSync(join(path, ".."), { recursive: true, mode: 0o700 });
  const temporary = `${path}.${process.pid}.tmp`;
  const secret = generate();
  writeFileSync(temporary, `${secret}\n`, { mode: 0o600 });
  linkSync(temporary, path);
  rmSync(temporary);
  return secret;
}
