/** Opens the configured keys, in this process or in a signer's process. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import {
  type ChainConfig,
  type Config,
  deliveryOf,
  type EvmChain,
  type KeyConfig,
  LANE_PURPOSES,
  type LanePurpose,
  listEvmChains,
  listLaneKeys,
  listSolanaChains,
  type SignerName,
} from "../config/index.ts";
import { assertNever, Bug } from "../core/assert.ts";
import { OperatingError } from "../core/errors.ts";
import { type Address, padAddress } from "../core/hex.ts";
import type { Clock } from "../core/ports.ts";
import type { Secret } from "../core/secret.ts";
import { deliveryIdOf, hashCommitment, predictWallet } from "../chains/evm/commitment.ts";
import { connectSigner } from "../signers/client.ts";
import { createEvmAttestorPolicy } from "../signers/evm/attestor-policy.ts";
import { type AttestedChain, createEvmAttestorSigner } from "../signers/evm/attestor-signer.ts";
import { createRawKey, type EvmKey } from "../signers/evm/key.ts";
import { decryptEvmKeystore } from "../signers/evm/keystore.ts";
import { openKmsKey } from "../signers/evm/kms-key.ts";
import { createLanePolicy } from "../signers/evm/lane-policy.ts";
import { createEvmLaneSigner } from "../signers/evm/lane-signer.ts";
import { type Guard, type LaneRules, openGuard } from "../signers/guard.ts";
import { addressOfKeystore, type Keystore, parseKeystore } from "../signers/keystore.ts";
import type { AttestorSigner, LaneSigner, VaultSigner } from "../signers/port.ts";
import { openCustody } from "../signers/solana/custody.ts";
import { decryptSeed } from "../signers/solana/keystore.ts";
import type { LockPair } from "../signers/solana/policy.ts";
import type { HeldSigners } from "../signers/server.ts";
import type { Log } from "../telemetry/log.ts";
import { DEFAULT_LANE_LIMITS } from "../transactions/index.ts";
import { findEvmFactory } from "./chains.ts";

/** Asks a person for the passphrase of the keystores. */
export type AskPassphrase = (question?: string) => Promise<Secret>;

/** Asks for the passphrase at the start: a standby opens its keys only when it takes over, possibly unattended. */
export async function askEarly(
  config: Config,
  askPassphrase: AskPassphrase,
): Promise<AskPassphrase> {
  const keys = [
    ...listLaneKeys(config),
    ...listSolanaChains(config).map(({ seed }) => seed),
    config.attestor.key,
  ];
  const isNeeded = keys.some(({ source }) => source.kind === "keystore");
  if (!isNeeded || config.keystorePassphrase) return askPassphrase;
  const passphrase = await askPassphrase();
  return async () => passphrase;
}

/** A starting role waits for its signer for two minutes: tries and the delay between them. */
const SIGNER_RETRY_MS = 1_000;
const SIGNER_TRIES = 120;

/** More than a full batch needs. */
const GAS_MAX = 8_000_000n;

/** Signers, and the resources to close after them. */
export interface OpenedSigners extends HeldSigners {
  close(): void;
}

/** Returns the path of a signer's journal, in the state directory. */
export function journalPath(config: Config, name: SignerName): string {
  return join(config.stateDir, "signers", `${name}.jsonl`);
}

/**
 * Opens the signers of a name: over the socket if the configuration names one, else in this process.
 * @throws OperatingError that names the setting when a key cannot be opened, RPC_UNAVAILABLE when the socket is silent.
 */
export async function getSigners(
  config: Config,
  name: SignerName,
  deps: { readonly clock: Clock; readonly askPassphrase: AskPassphrase; readonly log: Log },
): Promise<OpenedSigners> {
  const socket = config.signers[name];
  if (socket === undefined) return openSigners(config, name, deps);
  return { ...(await reachSigner(socket, name, deps)), close: () => undefined };
}

/**
 * Opens the source of vaults for a process without keys; null if the configuration names no socket for it.
 * @throws OperatingError CONFIG_MISSING when the signer has another seed, RPC_UNAVAILABLE when the socket is silent.
 */
export async function getVaultSigner(
  config: Config,
  deps: { readonly clock: Clock; readonly log: Log },
): Promise<VaultSigner | null> {
  const socket = config.signers.vaults;
  const [chain] = listSolanaChains(config);
  if (socket === undefined || !chain) return null;
  const { vaults } = await reachSigner(socket, "vaults", deps);
  if (vaults?.binding === chain.accounts.binding) return vaults;
  throw new OperatingError(
    "CONFIG_MISSING",
    "signers.vaults: expected the signer of the configured contracts; does it run with this configuration?",
  );
}

async function reachSigner(
  socket: string,
  name: string,
  deps: { readonly clock: Clock; readonly log: Log },
): Promise<HeldSigners> {
  // After a reboot the signer may start later, and may wait for its passphrase.
  for (let tries = 1; ; tries += 1) {
    try {
      return await connectSigner(socket);
    } catch (error) {
      const isAway = error instanceof OperatingError && error.code === "RPC_UNAVAILABLE";
      if (!isAway || tries >= SIGNER_TRIES) throw error;
      if (tries === 1)
        deps.log.warn({ err: error, signer: name }, "signer does not answer, retrying");
      await deps.clock.sleep(SIGNER_RETRY_MS);
    }
  }
}

/** Opens the keys of a signer in this process, behind its policy and its journal. */
export async function openSigners(
  config: Config,
  name: SignerName,
  deps: { readonly clock: Clock; readonly askPassphrase: AskPassphrase },
): Promise<OpenedSigners> {
  const open = createKeyOpener(config, deps.askPassphrase);
  const guard = openGuard({ journal: journalPath(config, name), clock: deps.clock });
  try {
    const signers =
      name === "attestor"
        ? { lanes: [], attestor: await openAttestor(config, open, guard), vaults: null }
        : { ...(await openSettler(config, open, guard)), attestor: null };
    return { ...signers, close: () => guard.close() };
  } catch (error) {
    guard.close();
    throw error;
  }
}

/** Opens the configured keys, each on first use. */
export interface KeyOpener {
  key(key: KeyConfig): Promise<EvmKey>;
  /** The seed from which every account on Solana is derived. */
  seed(key: KeyConfig): Promise<Secret>;
}

async function openSettler(config: Config, open: KeyOpener, guard: Guard) {
  const lanes = await openLanes(config, open, guard);
  const [chain] = listSolanaChains(config);
  if (!chain) return { lanes, vaults: null };
  const custody = openCustody(
    {
      seed: await open.seed(chain.seed),
      setting: chain.seed.setting,
      chainId: chain.chainId,
      treasury: chain.accounts.treasury,
      attestors: chain.attestors,
      tokens: chain.tokens.map(({ address: token }) => ({
        token,
        mint: chain.mints.get(token) ?? null,
        dailyCap: chain.dailyCaps.get(token) ?? 0n,
      })),
      pairs: listLockPairs(config, chain),
      dailyBudget: chain.dailyFeeBudget,
      factory: findEvmFactory(config),
      hashing: { hashCommitment, predictWallet, deliveryIdOf },
    },
    guard,
  );
  // Compares every account: a lock in an escrow that is not scanned would never be found.
  const names = ["binding", "escrow", "delivery", "settle", "deliver"] as const;
  if (names.some((name) => custody.accounts[name] !== chain.accounts[name])) {
    throw new OperatingError(
      "CONFIG_MISSING",
      `${chain.seed.setting}: expected the seed of the configured contracts; \`sluice keys show\` lists its accounts`,
    );
  }
  return { lanes: [...lanes, ...custody.lanes], vaults: custody.vaults };
}

/** Returns the locks that the signer may sign on Solana, from the routes that deliver elsewhere. */
function listLockPairs(config: Config, { chainId, tokens }: ChainConfig): LockPair[] {
  return config.routes.flatMap((route): LockPair[] => {
    if (!route.fromInventory || route.chainId !== chainId) return [];
    const destination = config.chains.find((known) => known.chainId === route.destChain);
    const source = tokens.find(({ address }) => address === route.token);
    const token = destination?.tokens.find(({ address }) => address === route.destToken);
    if (!destination || !source || !token)
      throw new Bug("a route names a token that is not listed");
    return [
      {
        token: route.token,
        decimals: source.decimals,
        destChain: route.destChain,
        destToken: padAddress(route.destToken),
        destDecimals: token.decimals,
        delivery: padAddress(deliveryOf(destination)),
        priced: route.pricedIn !== null,
      },
    ];
  });
}

async function openLanes(config: Config, open: KeyOpener, guard: Guard): Promise<LaneSigner[]> {
  const lanes: LaneSigner[] = [];
  for (const chain of listEvmChains(config)) {
    const seen = new Map<Address, string>();
    for (const purpose of LANE_PURPOSES) {
      for (const key of chain.lanes[purpose]) {
        const { chainId, evmChainId } = chain;
        const opened = await open.key(key);
        refuseTwice(seen, key.setting, opened.address);
        const signer = createEvmLaneSigner({
          key: opened,
          chainId,
          evmChainId,
          purpose,
          retired: key.retired,
        });
        lanes.push(guard.guardLane(signer, rulesOf(config, chain, purpose)));
      }
    }
  }
  return lanes;
}

/** Refuses one account under two settings of a chain: an account has one sequence of nonces. */
function refuseTwice(seen: Map<Address, string>, setting: string, address: Address): void {
  const other = seen.get(address);
  if (other !== undefined) {
    throw new OperatingError(
      "CONFIG_MISSING",
      `${setting}: expected a key of its own, ${other} has it too`,
    );
  }
  seen.set(address, setting);
}

function rulesOf(config: Config, chain: EvmChain, purpose: LanePurpose): LaneRules {
  const { chainId, contracts, cctp, dailyGasBudget } = chain;
  const routes = config.routes.filter((route) => route.chainId === chainId);
  return {
    checkCall: createLanePolicy(purpose, {
      chainId,
      contracts,
      cctp,
      routes: new Set(routes.map(({ contract }) => contract)),
    }),
    gasMax: GAS_MAX,
    gasPriceMax: DEFAULT_LANE_LIMITS.gasPriceMax,
    dailyGasBudget,
  };
}

async function openAttestor(
  config: Config,
  open: KeyOpener,
  guard: Guard,
): Promise<AttestorSigner> {
  const chains = new Map(
    config.chains.map((chain): [number, AttestedChain] => {
      const { chainId } = chain;
      if (chain.kind === "evm") {
        return [chainId, { kind: chain.kind, evmChainId: chain.evmChainId, ...chain.contracts }];
      }
      const { escrow, delivery } = chain.accounts;
      return [chainId, { kind: chain.kind, escrow, delivery, factory: findEvmFactory(config) }];
    }),
  );
  const signer = createEvmAttestorSigner({ key: await open.key(config.attestor.key), chains });
  return guard.guardAttestor(signer, {
    ...createEvmAttestorPolicy({ chains, routes: config.routes }),
    payoutWindowS: config.payoutWindowS,
  });
}

/** Opens keys one after another, so that the passphrase is asked for once. */
export function createKeyOpener(config: Config, askPassphrase: AskPassphrase): KeyOpener {
  let asked: Promise<Secret> | undefined;
  const readPassphrase = () => (asked ??= getPassphrase(config, askPassphrase));
  return {
    async key({ setting, source }) {
      switch (source.kind) {
        case "raw":
          return createRawKey(source.key, setting);
        case "keystore": {
          const keystore = readKeystore(source.path, setting);
          const { key } = await decryptEvmKeystore(keystore, await readPassphrase(), setting);
          return createRawKey(key, setting);
        }
        case "kms":
          return openKmsKey(source, { setting, credentials: config.aws });
        case "elsewhere":
          throw new Bug("a key was opened by a process that does not hold it");
        default:
          return assertNever(source);
      }
    },
    async seed({ setting, source }) {
      if (source.kind === "raw") return source.key;
      if (source.kind !== "keystore") throw new Bug("a seed is a keystore, or given as it is");
      const keystore = readKeystore(source.path, setting);
      return (await decryptSeed(keystore, await readPassphrase(), setting)).key;
    },
  };
}

/** Returns the passphrase of the keystores, from the setting or from a person. */
export async function getPassphrase(
  config: Pick<Config, "keystorePassphrase">,
  askPassphrase: AskPassphrase,
): Promise<Secret> {
  return config.keystorePassphrase ?? askPassphrase();
}

/** Reads a keystore's file. Throws CONFIG_MISSING with the setting's name. */
export function readKeystore(path: string, setting: string): Keystore {
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch (cause) {
    throw new OperatingError(
      "CONFIG_MISSING",
      `${setting}: expected a readable keystore at ${path}; \`sluice keys init\` creates missing keystores`,
      { cause },
    );
  }
  return parseKeystore(text, setting);
}

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

async function askSigner(config: Config, name: SignerName): Promise<HeldSigners | null> {
  const socket = config.signers[name];
  return socket === undefined ? null : connectSigner(socket);
}

function lacking(name: SignerName, setting: string): OperatingError {
  return new OperatingError(
    "CONFIG_MISSING",
    `signers.${name}: expected a signer that holds ${setting}; does it run with this configuration?`,
  );
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
