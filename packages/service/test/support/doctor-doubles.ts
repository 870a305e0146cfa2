/** Doubles for unit tests of the doctor's checks. They throw on every call that a test does not provide. */
import type { ChainInspector, SolanaInspector } from "../../src/chains/inspector.ts";
import type { EvmMeasures } from "../../src/chains/node-measures.ts";
import {
  CONNECTIONS,
  type ChainConfig,
  type Config,
  type EvmChain,
  LANE_PURPOSES,
  type LanePurpose,
  type SolanaChain,
  type MintConfig,
} from "../../src/config/index.ts";
import {
  type Address,
  type EvmAddress,
  NATIVE_SOL,
  toEvmAddress,
  toHex32,
  toSolanaAddress,
} from "../../src/core/hex.ts";
import { Secret } from "../../src/core/secret.ts";
import type { ChainNodes, DoctorDeps, LaneAccount, SeedAccounts } from "../../src/doctor/index.ts";
import { moduleOf } from "../../src/routes/index.ts";
import { createNodesConfig } from "./nodes.ts";
import { NO_REFUNDS } from "./refund-policies.ts";

/** Listed in the contracts, and offline. */
export const COLD_ATTESTOR = toEvmAddress(`0x${"c0".repeat(20)}`);
const addressOf = (digit: string) => toEvmAddress(`0x${digit.repeat(40)}`);
const KEY = new Secret(`0x${"1".repeat(64)}`);

export const USDC = addressOf("c");
export const ATTESTOR = addressOf("4");

export const CHAIN: EvmChain = {
  preset: undefined,
  explorerTxUrl: "",
  chainId: 2,
  name: "ethereum",
  kind: "evm",
  evmChainId: 900_002,
  nodes: createNodesConfig(["http://127.0.0.1:1", "http://127.0.0.1:2", "http://127.0.0.1:3"], 2),
  minDepositUsd: undefined,
  startBlock: 0,
  pollIntervalMs: 1_000,
  balanceCheckIntervalMs: 15_000,
  traces: false,
  earlyPayouts: undefined,
  deliveryConfirmations: 1,
  uniswapV3: undefined,
  contracts: {
    factory: addressOf("f"),
    escrow: addressOf("e"),
    delivery: addressOf("d"),
    treasury: undefined,
  },
  cctp: undefined,
  tokens: [
    {
      symbol: "USDC",
      address: USDC,
      decimals: 6,
      minDeposit: 1_000_000n,
      minDepositUnits: "1",
      inventoryMin: undefined,
      inventoryTarget: undefined,
      price: undefined,
    },
  ],
  lanes: { deploy: [], settle: [], deliver: [], claim: [] },
  dailyGasBudget: undefined,
  gasPriceMax: 500_000_000_000n,
  transactionSurcharge: 0n,
};

/** Measurements of a node that can do everything. */
export const ABLE: EvmMeasures = {
  measureLatency: async () => 12,
  measureBlocks: async ({ count }) => ({
    blocks: count,
    durationMs: 100,
    requests: 2 * count,
    bytes: 1_000_000,
    batch: count,
    isBatchRefused: false,
    rateRefusals: 0,
  }),
  measureLogRange: async () => ({ blocks: 10_000n, isLimited: false }),
  readStateAt: async () => undefined,
  readReceiptAfter: async () => true,
  traceBlock: async () => undefined,
};

const accountOf = (pair: string) => toSolanaAddress(`0x${pair.repeat(32)}`);

/** Accounts of the seed of `SOLANA_CHAIN`. */
export const SEED_ACCOUNTS = {
  binding: accountOf("b1"),
  escrow: accountOf("b2"),
  delivery: accountOf("b3"),
  settle: accountOf("b4"),
  deliver: accountOf("b5"),
} satisfies SeedAccounts;
export const SOLANA_TREASURY = accountOf("b6");
export const SOLANA_USDC = accountOf("cc");
const { binding, escrow, delivery, settle, deliver } = SEED_ACCOUNTS;

/** Solana's public network, where the exceptions for local test chains do not apply. */
export const SOLANA_CHAIN: SolanaChain = {
  kind: "svm",
  preset: undefined,
  explorerTxUrl: "",
  chainId: 1,
  name: "solana",
  nodes: CHAIN.nodes,
  minDepositUsd: undefined,
  pollIntervalMs: 1_000,
  startSlot: 1_000,
  accounts: { binding, escrow, delivery, settle, deliver, treasury: SOLANA_TREASURY },
  tokens: [
    {
      symbol: "SOLANA",
      address: NATIVE_SOL,
      decimals: 9,
      minDeposit: 1_000_000n,
      minDepositUnits: "0.001",
      inventoryMin: undefined,
      inventoryTarget: undefined,
      price: undefined,
    },
    {
      symbol: "USDC",
      address: SOLANA_USDC,
      decimals: 6,
      minDeposit: 1_000_000n,
      minDepositUnits: "1",
      inventoryMin: 5_000_000n,
      inventoryTarget: undefined,
      price: undefined,
    },
  ],
  genesisHash: toHex32(accountOf("ab")),
  detectAt: "finalized",
  seed: { setting: "chains[1].seed", retired: false, source: { kind: "elsewhere" } },
  mints: new Map<Address, MintConfig>([
    [SOLANA_USDC, { program: "token", decimals: 6, hasTransferFee: false }],
  ]),
  attestors: [ATTESTOR, COLD_ATTESTOR],
  dailyCaps: new Map<Address, bigint>([
    [NATIVE_SOL, 1n],
    [SOLANA_USDC, 1n],
  ]),
  priorityFeeMax: 1n,
  dailyFeeBudget: undefined,
};

export const LANES: Readonly<Record<LanePurpose, EvmAddress>> = {
  deploy: addressOf("1"),
  settle: addressOf("2"),
  deliver: addressOf("3"),
  claim: addressOf("7"),
};

function listLanes(lanes: Partial<typeof LANES>): readonly LaneAccount[] {
  return LANE_PURPOSES.flatMap((purpose) => {
    const address = lanes[purpose];
    return address ? [{ name: purpose, purpose, address }] : [];
  });
}

/** Returns a node that answers the given calls, and throws on all others. */
export function createStrictInspector(members: Partial<ChainInspector>): ChainInspector {
  return createStrict(members);
}

/** Returns such a node of Solana. */
export function createStrictSolanaInspector(members: Partial<SolanaInspector>): SolanaInspector {
  return createStrict(members);
}

function createStrict<Inspector extends object>(members: Partial<Inspector>): Inspector {
  // CAST: the proxy answers every member of the port, most of them with a throw.
  return new Proxy(members, {
    get(target, name, receiver) {
      if (Reflect.has(target, name)) return Reflect.get(target, name, receiver);
      throw new Error(`${String(name)} must not be asked for`);
    },
  }) as Inspector;
}

/** Returns separate nodes for the service and the attestor, with equal answers. */
export function nodesFor<Inspector>(inspector: Inspector): ChainNodes<Inspector> {
  const none: readonly Inspector[] = [];
  return {
    service: inspector,
    attestor: inspector,
    furtherOfService: none,
    furtherOfAttestor: none,
    areTheSame: false,
  };
}

export function createDoctorDeps(given: {
  readonly live?: DoctorDeps["live"];
  readonly getNewestBackup?: DoctorDeps["getNewestBackup"];
  readonly chain?: ChainConfig;
  readonly config?: Partial<Config>;
  readonly nodes?: ChainNodes;
  readonly solanaNodes?: ChainNodes<SolanaInspector>;
  readonly tryPush?: DoctorDeps["tryPush"];
  readonly tryStream?: DoctorDeps["tryStream"];
  readonly readSeedAccounts?: DoctorDeps["readSeedAccounts"];
  readonly vaultSources?: DoctorDeps["vaultSources"];
  readonly getScanned?: DoctorDeps["getScanned"];
  readonly nowMs?: number;
  readonly lanes?: Partial<typeof LANES>;
  readonly prices?: DoctorDeps["prices"];
  readonly attestations?: DoctorDeps["attestations"];
  readonly secretFiles?: DoctorDeps["secretFiles"];
  readonly listIntegrators?: DoctorDeps["listIntegrators"];
}): DoctorDeps {
  const nobody = createStrictInspector({});
  const nodes = given.nodes ?? nodesFor(nobody);
  const refuse = async () => {
    throw new Error("the database must not be asked");
  };
  return {
    config: {
      stateDir: "state",
      databaseUrl: undefined,
      tracing: undefined,
      screening: undefined,
      refunds: NO_REFUNDS,
      api: { host: "127.0.0.1", port: 0 },
      quote: { host: "127.0.0.1", port: 0 },
      telemetry: undefined,
      console: undefined,
      cctp: undefined,
      rateLimits: {
        perKey: 1,
        perAddress: 1,
        wrongKeyPerAddress: 1,
        requestIndexPerKey: 1,
        newAddressesPerKey: 1,
        nodeRequestsPerKey: 1,
      },
      socketCaps: { perKey: 1, perAddress: 1, connectionsPerAddress: 1 },
      telemetryHosts: [],
      webhooks: { allowedRanges: [], endpointsPerIntegrator: 100 },
      shareRateLimits: false,
      publicUrls: { api: undefined, quote: undefined },
      requestsAtOnce: { perKey: 1, waitMs: 0 },
      databaseConnections: CONNECTIONS,
      quotas: { addresses: 1_000, openSettlements: 1_000 },
      trustedProxies: [],
      attestors: { threshold: 1, accounts: [], cold: [COLD_ATTESTOR], databaseUsers: [] },
      corsOrigins: [],
      payPage: { frameAncestors: [] },
      apiKeyPepper: KEY,
      feeBps: 10,
      gas: "sponsored",
      maxFeeBps: 50,
      maxSlippageBps: 100,
      rateToleranceBps: 200,
      inventoryShares: { addressBps: 5_000, integratorBps: 8_000 },
      payoutWindowS: 43_200n,
      attestor: {
        key: { setting: "attestor.key", retired: false, source: { kind: "elsewhere" } },
        databaseUser: undefined,
        nodes: new Map(),
      },
      keystorePassphrase: undefined,
      signers: { settler: undefined, attestor: undefined, vaults: undefined },
      aws: undefined,
      google: { accountFile: null, metadataHost: "" },
      deployment: undefined,
      chains: [given.chain ?? CHAIN],
      routes: [],
      logLevel: "silent",
      crashAt: undefined,
      ...given.config,
    },
    clock: { now: () => given.nowMs ?? 0, sleep: async () => undefined },
    secretFiles: given.secretFiles ?? [],
    moduleOf,
    factory: {
      deployer: { address: addressOf("9"), codeHash: toHex32(`0x${"9".repeat(64)}`) },
      identityOf: () => ({
        implementation: addressOf("8"),
        initCodeHash: toHex32(`0x${"8".repeat(64)}`),
      }),
    },
    display: (address) => address,
    attestor: ATTESTOR,
    lanesOf: () => listLanes(given.lanes ?? LANES),
    nodesOf: () => nodes,
    solanaNodesOf: () => given.solanaNodes ?? nodesFor(createStrictSolanaInspector({})),
    tryPush: given.tryPush ?? refuse,
    tryStream: given.tryStream ?? refuse,
    readSeedAccounts: given.readSeedAccounts ?? refuse,
    vaultSources: given.vaultSources ?? [],
    getScanned: given.getScanned ?? refuse,
    prices: given.prices ?? {
      readReport: () => Promise.reject(new Error("no price must be asked for")),
      readUsd: () => Promise.reject(new Error("no price must be asked for")),
    },
    attestations: given.attestations ?? null,
    readDatabase: refuse,
    getKnownNonces: refuse,
    listBreaches: refuse,
    listOverdueClaims: refuse,
    listUnexpectedChanges: refuse,
    getNewestBackup: given.getNewestBackup ?? refuse,
    live: given.live ?? null,
    listRefundAuthorities: refuse,
    listRouteSets: refuse,
    listIntegrators: given.listIntegrators ?? refuse,
  };
}
