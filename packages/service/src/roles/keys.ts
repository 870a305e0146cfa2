/** Opens the configured keys, in this process or in a signer's process. */
import { join } from "node:path";
import {
  type ChainConfig,
  type Config,
  deliveryOf,
  escrowOf,
  type EvmChain,
  LANE_PURPOSES,
  type LanePurpose,
  listEvmChains,
  listSolanaChains,
  type SignerName,
} from "../config/index.ts";
import { Bug } from "../core/assert.ts";
import { OperatingError } from "../core/errors.ts";
import { type Address, padAddress } from "../core/hex.ts";
import type { Clock } from "../core/ports.ts";
import { deliveryIdOf, hashCommitment, predictWallet } from "../chains/evm/commitment.ts";
import { getChainConfig, getToken } from "../routes/index.ts";
import { connectSigner } from "../signers/client.ts";
import { createEvmAttestorPolicy } from "../signers/evm/attestor-policy.ts";
import {
  type AttestedChain,
  createAttestationDigest,
  createEvmAttestorSigner,
} from "../signers/evm/attestor-signer.ts";
import { createLanePolicy, listPayouts } from "../signers/evm/lane-policy.ts";
import { createEvmLaneSigner } from "../signers/evm/lane-signer.ts";
import { type Guard, openGuard } from "../signers/guard.ts";
import { type LaneRules, reserveForClaims } from "../signers/lane-memory.ts";
import { type CheckPayout, createPayoutPolicy, listPayoutPairs } from "../signers/payout-policy.ts";
import type { AttestorSet, AttestorSigner, LaneSigner, VaultSigner } from "../signers/port.ts";
import { createRecovery } from "../signers/solana/attestation.ts";
import { openCustody } from "../signers/solana/custody.ts";
import type { CheckRefund } from "../signers/solana/lane-signer.ts";
import type { LockPair } from "../signers/solana/policy.ts";
import type { HeldSigners } from "../signers/server.ts";
import type { Log } from "../telemetry/log.ts";
import { findEvmFactory } from "./chains.ts";
import { type AskPassphrase, createKeyOpener, type KeyOpener } from "./key-opener.ts";
import type { SignerReads } from "./signer-reads.ts";

/** A starting role waits for its signer for two minutes: tries and the delay between them. */
const SIGNER_RETRY_MS = 1_000;

const SIGNER_TRIES = 120;

/** More than a full batch needs. */
const GAS_MAX = 8_000_000n;

/** Signatures whose signers a process remembers. */
const RECOVERED_MAX = 10_000;

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
  deps: Parameters<typeof openSigners>[2] & { readonly log: Log },
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
  deps: {
    readonly clock: Clock;
    readonly askPassphrase: AskPassphrase;
  } & SignerReads,
): Promise<OpenedSigners> {
  const open = createKeyOpener(config, deps.askPassphrase);
  const guard = openGuard({ journal: journalPath(config, name), clock: deps.clock });
  try {
    const signers =
      name === "attestor"
        ? { lanes: [], attestor: await openAttestor(config, open, guard), vaults: null }
        : {
            ...(await openSettler(config, open, {
              guard,
              checkPayout: payoutPolicyOf(config, deps),
              checkRefund: deps.checkRefund,
            })),
            attestor: null,
          };
    return { ...signers, close: () => guard.close() };
  } catch (error) {
    guard.close();
    throw error;
  }
}

/** What guards the lanes of a process. */
interface LaneGuards {
  readonly guard: Guard;
  readonly checkPayout: CheckPayout;
  readonly checkRefund: CheckRefund;
}

/** Creates the check of payouts against the locks of the configured chains. */
function payoutPolicyOf(
  config: Config,
  { clock, readLock }: { readonly clock: Clock } & Pick<SignerReads, "readLock">,
): CheckPayout {
  const { payoutWindowS } = config;
  const pairs = listPayoutPairs({
    routes: config.routes,
    decimalsOf: (chainId, token) => getToken(config, chainId, token).decimals,
    escrowOf: (chainId) => padAddress(escrowOf(getChainConfig(config, chainId))),
    deliveryOf: (chainId) => padAddress(deliveryOf(getChainConfig(config, chainId))),
  });
  return createPayoutPolicy({ pairs, readLock, payoutWindowS, clock });
}

async function openSettler(config: Config, open: KeyOpener, guards: LaneGuards) {
  const { guard, checkPayout, checkRefund } = guards;
  const lanes = await openLanes(config, open, guards);
  const [chain] = listSolanaChains(config);
  if (!chain) return { lanes, vaults: null };
  const custody = openCustody(
    {
      seed: await open.seed(chain.seed),
      setting: chain.seed.setting,
      chainId: chain.chainId,
      treasury: chain.accounts.treasury,
      attestors: chain.attestors,
      threshold: config.attestors.threshold,
      cluster: chain.genesisHash,
      tokens: chain.tokens.map(({ address: token }) => ({
        token,
        mint: chain.mints.get(token) ?? null,
        dailyCap: chain.dailyCaps.get(token) ?? 0n,
      })),
      pairs: listLockPairs(config, chain),
      dailyBudget: chain.dailyFeeBudget,
      checkPayout,
      checkRefund,
      payoutWindowS: config.payoutWindowS,
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

async function openLanes(
  config: Config,
  open: KeyOpener,
  { guard, checkPayout }: LaneGuards,
): Promise<LaneSigner[]> {
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
        lanes.push(guard.guardLane(signer, rulesOf(config, chain, { purpose, checkPayout })));
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

function rulesOf(
  config: Config,
  chain: EvmChain,
  { purpose, checkPayout }: { readonly purpose: LanePurpose; readonly checkPayout: CheckPayout },
): LaneRules {
  const { chainId, contracts, cctp, dailyGasBudget, gasPriceMax } = chain;
  const routes = config.routes.filter((route) => route.chainId === chainId);
  return {
    checkCall: createLanePolicy(purpose, {
      chainId,
      contracts,
      cctp,
      routes: new Set(routes.map(({ contract }) => contract)),
    }),
    async checkEvidence(call, hints) {
      const payouts = purpose === "deliver" ? listPayouts(call, contracts) : [];
      for (const payout of payouts) await checkPayout(payout, hints);
    },
    gasMax: GAS_MAX,
    gasPriceMax,
    dailyGasBudget,
    claimReserve: purpose === "settle" ? reserveForClaims(dailyGasBudget) : 0n,
  };
}

async function openAttestor(
  config: Config,
  open: KeyOpener,
  guard: Guard,
): Promise<AttestorSigner> {
  const chains = attestedChainsOf(config);
  const signer = createEvmAttestorSigner({ key: await open.key(config.attestor.key), chains });
  return guard.guardAttestor(signer, {
    ...createEvmAttestorPolicy({
      chains,
      earlyPayouts: new Map(
        listEvmChains(config).flatMap(({ chainId, earlyPayouts }) =>
          earlyPayouts ? [[chainId, earlyPayouts] as const] : [],
        ),
      ),
      routes: config.routes,
      refunds: config.refunds,
    }),
    payoutWindowS: config.payoutWindowS,
  });
}

function attestedChainsOf(config: Config): ReadonlyMap<number, AttestedChain> {
  return new Map(
    config.chains.map((chain): [number, AttestedChain] => {
      const { chainId, kind } = chain;
      if (kind === "evm")
        return [chainId, { kind, evmChainId: chain.evmChainId, ...chain.contracts }];
      const { escrow, delivery } = chain.accounts;
      const factory = findEvmFactory(config);
      return [chainId, { kind, cluster: chain.genesisHash, escrow, delivery, factory }];
    }),
  );
}

/** Returns the attestors of the configuration, with the recovery of their signatures. Opens no key. */
export function createAttestorSet(config: Config): AttestorSet {
  const digestOf = createAttestationDigest(attestedChainsOf(config));
  const recoverSigner = createRecovery(config.attestors.accounts);
  /** Signers by digest and signature, the oldest first: an answer is read again at each step. */
  const known = new Map<string, NonNullable<ReturnType<typeof recoverSigner>>>();
  return {
    ...config.attestors,
    recover(message, signature) {
      const digest = digestOf(message);
      const name = `${digest} ${signature}`;
      const found = known.get(name);
      if (found !== undefined) return found;
      const signer = recoverSigner(Buffer.from(digest.slice(2), "hex"), signature);
      // Whatever has no signer is of any length, and refused at once.
      if (signer === null) return null;
      known.set(name, signer);
      const [oldest] = known.keys();
      if (known.size > RECOVERED_MAX && oldest !== undefined) known.delete(oldest);
      return signer;
    },
  };
}

/** Connects to the signer process of a name; null where the keys are in this process. */
export async function askSigner(config: Config, name: SignerName): Promise<HeldSigners | null> {
  const socket = config.signers[name];
  return socket === undefined ? null : connectSigner(socket);
}

/** Returns the error for a signer that does not hold a configured key. */
export function lacking(name: SignerName, setting: string): OperatingError {
  return new OperatingError(
    "CONFIG_MISSING",
    `signers.${name}: expected a signer that holds ${setting}; does it run with this configuration?`,
  );
}
