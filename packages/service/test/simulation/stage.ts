/**
 * The two EVM chains of a simulation, in some runs with Solana: their contracts, balances, and the configuration of the
 * service.
 */
import type { DepositAddress } from "../../src/addresses/index.ts";
import { FakeChain } from "../fake-chain/model.ts";
import type { FakeCctp } from "../fake-chain/cctp.ts";
import { type FakePool, NO_POOL_LIMITS, type PoolLimits } from "../fake-chain/pool.ts";
import { type FakeContracts, type FakeRoute, State } from "../fake-chain/contracts.ts";
import { hash } from "../fake-chain/codec.ts";
import {
  CONNECTIONS,
  type Config,
  type EarlyPayoutsConfig,
  type EvmChain,
  type GasPolicy,
  LANE_PURPOSES,
  type LanePurpose,
  type PriceConfig,
  type RouteConfig,
  type SolanaChain,
} from "../../src/config/index.ts";
import { FakeSlotChain } from "../fake-chain/slots.ts";
import {
  type Address,
  type EvmAddress,
  type Hex32,
  NATIVE_SOL,
  NATIVE_TOKEN,
  padAddress,
  toAddress,
  toEvmAddress,
  toHex32,
  toSolanaAddress,
} from "../../src/core/hex.ts";
import { Secret } from "../../src/core/secret.ts";
import type { RouteChoice } from "./faults.ts";
import type { Dice } from "./random.ts";
import { configuredRoute } from "../support/routes.ts";
import { createNodesConfig } from "../support/nodes.ts";
import { NO_REFUNDS } from "../support/refund-policies.ts";

/** Start of virtual time. */
export const START_MS = Date.parse("2026-01-05T00:00:00.000Z");
export const CHAIN_IDS = [2, 30] as const;
/** Bridge chain id of Solana, which some runs have, with routes to and from the first EVM chain. */
export const SOLANA = 1;
/** Source and destination chains of addresses in a run with Solana; duplicates are drawn twice as often. */
export const PAIRS = [
  [SOLANA, SOLANA],
  [SOLANA, CHAIN_IDS[0]],
  [CHAIN_IDS[0], SOLANA],
  [SOLANA, CHAIN_IDS[0]],
  [CHAIN_IDS[0], SOLANA],
  [CHAIN_IDS[0], CHAIN_IDS[1]],
  [CHAIN_IDS[0], CHAIN_IDS[0]],
] as const;

/** Ten to the sixth: base units of a whole token. */
export const UNIT = 1_000_000n;
export const MINIMUM = UNIT;
export const ETHER = 10n ** 18n;
export const FEE_BPS = 10;
export const MAX_FEE_BPS = 50;

/** Returns the account of a unique name. */
export function accountOf(name: string): EvmAddress {
  return toEvmAddress(`0x${hash("account", name).slice(26)}`);
}

/** Returns an account in the form of a chain: 32 bytes on Solana. */
export const on = (chainId: number, account: EvmAddress): Address =>
  chainId === SOLANA ? toAddress(padAddress(account)) : account;
export const nativeOn = (chainId: number) => (chainId === SOLANA ? NATIVE_SOL : NATIVE_TOKEN);
/** Smallest deposit in coin, in base units: a thousandth of a coin. */
export const coinMinimumOf = (chainId: number) => COIN_UNITS[chainId === SOLANA ? 0 : 1] / 1000n;
const COIN_UNITS = [10n ** 9n, ETHER] as const;
export const tokenOf = (chainId: number) => on(chainId, accountOf(`token of ${chainId}`));
export const laneOf = (chainId: number, purpose: LanePurpose) =>
  on(chainId, accountOf(`lane ${purpose} ${chainId}`));
export const userOf = (number: number) => accountOf(`user ${number}`);
/** Sorted, as the contracts count them; two of them must sign. */
export const ATTESTORS = [1, 2, 3].map((number) => accountOf(`attestor ${number}`)).toSorted();
export const THRESHOLD = 2;
export const FACTORY = accountOf("factory");
export const REFUND_AUTHORITY = accountOf("refund authority");
/** The same on Solana, where it must be a public key: that of 32 bytes 01. */
export const REFUND_AUTHORITY_SOLANA = toAddress(
  "0x8a88e3dd7409f195fd52db2d3cba5d72ca6709bf1d94121bf3748801b40f6f5c",
);
/** Daily cap of every token: above all deposits. */
export const DAILY_CAP = 10n ** 15n;
/** From the announcement of a settlement by anybody to its execution: 72 hours in the contracts. */
export const UNATTENDED_DELAY_S = 20n;
export const USERS = 4;
/** Submits bridge messages of other accounts. */
export const STRANGER = accountOf("stranger");
/** Trades in the pools, and moves the market. */
export const TRADER = accountOf("trader");
/** Initial price of the coin in dollars, times 1e18. */
export const COIN_USD = 2n * ETHER;
const POOL_FEE = 500;
/** Fast allowance of the bridge without a limit, in base units: above all deposits. */
export const ALLOWANCE = 10n ** 15n;

const routeOf = (name: string, chainId: number) => accountOf(`route ${name} ${chainId}`);
const escrowOf = (chainId: number) => on(chainId, accountOf(`escrow ${chainId}`));
const deliveryOf = (chainId: number) => on(chainId, accountOf(`delivery ${chainId}`));
/** The binding key's account. */
const BINDING = on(SOLANA, accountOf("binding"));
const otherOf = (chainId: number) => (chainId === 2 ? 30 : 2);

/** Returns the CCTP domain of a chain. */
export const domainOf = (chainId: number) => (chainId === 2 ? 0 : 6);
const messengerOf = (chainId: number) => accountOf(`messenger ${chainId}`);

export function cctpOf(chainId: number): FakeCctp {
  const other = otherOf(chainId);
  return {
    domain: domainOf(chainId),
    messenger: messengerOf(chainId),
    transmitter: accountOf(`transmitter ${chainId}`),
    token: tokenOf(chainId),
    burnLimit: DAILY_CAP,
    feeRecipient: accountOf("fee recipient of the bridge"),
    remotes: new Map([[domainOf(other), { messenger: messengerOf(other), token: tokenOf(other) }]]),
  };
}

export function poolOf(chainId: number): FakePool {
  return {
    account: accountOf(`pool ${chainId}`),
    quoter: accountOf(`quoter ${chainId}`),
    weth: accountOf(`wrapped coin ${chainId}`),
    token: tokenOf(chainId),
    coinDecimals: 18n,
    tokenDecimals: 6n,
    fee: BigInt(POOL_FEE),
    feed: accountOf(`feed ${chainId}`),
    limits: NO_POOL_LIMITS,
  };
}

/** Returns the addresses of the contracts of an EVM chain. */
function evmContractsOf(chainId: number): EvmChain["contracts"] {
  const { factory, escrow, delivery } = contractsOf(chainId);
  return {
    factory: toEvmAddress(factory),
    escrow: toEvmAddress(escrow),
    delivery: toEvmAddress(delivery),
    treasury: undefined,
  };
}

/** Returns the chain whose contract pays a lock. */
export function destinationOf({ delivery }: { readonly delivery: Hex32 }): number {
  const found = [...CHAIN_IDS, SOLANA].find((id) => padAddress(deliveryOf(id)) === delivery);
  if (found === undefined) throw new Error(`no chain has the delivery contract ${delivery}`);
  return found;
}

/**
 * Seconds after a lock in which the contracts pay. In hasty runs many locks are given back; the others are still long
 * enough for a lock to become final and be paid.
 */
export const PAYOUT_WINDOW_S = { ordinary: 600n, hasty: 240n };

export function contractsOf(chainId: number): FakeContracts {
  if (chainId === SOLANA) return solanaContracts();
  const token = tokenOf(chainId);
  const destChain = otherOf(chainId);
  const routes = new Map<EvmAddress, FakeRoute>([
    [routeOf("token", chainId), { kind: "transfer", token }],
    [routeOf("native", chainId), { kind: "transfer", token: NATIVE_TOKEN }],
    [
      routeOf("escrow", chainId),
      {
        kind: "escrow",
        token,
        destChain,
        destToken: tokenOf(destChain),
        delivery: deliveryOf(destChain),
        decimalsIn: 6,
        decimalsOut: 6,
      },
    ],
    ...(chainId === CHAIN_IDS[0] ? [toSolana(chainId)] : []),
    [
      routeOf("bridge", chainId),
      {
        kind: "cctp",
        token,
        destChain,
        destToken: tokenOf(destChain),
        destDomain: domainOf(destChain),
      },
    ],
    [
      routeOf("coin to token", chainId),
      { kind: "swap", token: NATIVE_TOKEN, destToken: tokenOf(chainId) },
    ],
    [
      routeOf("token to coin", chainId),
      { kind: "swap", token: tokenOf(chainId), destToken: NATIVE_TOKEN },
    ],
    [
      routeOf("coin to bridge", chainId),
      {
        kind: "swap_cctp",
        token: NATIVE_TOKEN,
        bridgeToken: tokenOf(chainId),
        destChain,
        destToken: tokenOf(destChain),
        destDomain: domainOf(destChain),
      },
    ],
  ]);
  return {
    chainId,
    factory: FACTORY,
    escrow: escrowOf(chainId),
    delivery: deliveryOf(chainId),
    treasury: accountOf("treasury"),
    feeRecipient: accountOf("fee recipient"),
    attestors: ATTESTORS,
    threshold: THRESHOLD,
    payoutWindowS: PAYOUT_WINDOW_S.ordinary,
    unattendedDelayS: UNATTENDED_DELAY_S,
    relayers: new Set(LANE_PURPOSES.map((purpose) => laneOf(chainId, purpose))),
    routes,
    cctp: cctpOf(chainId),
    pool: poolOf(chainId),
  };
}

function toSolana(chainId: number): [EvmAddress, FakeRoute] {
  const route: FakeRoute = {
    kind: "escrow",
    token: tokenOf(chainId),
    destChain: SOLANA,
    destToken: tokenOf(SOLANA),
    delivery: deliveryOf(SOLANA),
    decimalsIn: 6,
    decimalsOut: 6,
  };
  return [routeOf("escrow to Solana", chainId), route];
}

/** Returns the signer's accounts, which stand for contracts on Solana. */
function solanaContracts(): FakeContracts {
  const treasury = on(SOLANA, accountOf("treasury"));
  return {
    chainId: SOLANA,
    factory: BINDING,
    escrow: escrowOf(SOLANA),
    delivery: deliveryOf(SOLANA),
    treasury,
    feeRecipient: treasury,
    attestors: ATTESTORS,
    threshold: THRESHOLD,
    payoutWindowS: PAYOUT_WINDOW_S.ordinary,
    unattendedDelayS: UNATTENDED_DELAY_S,
    relayers: new Set(LANE_PURPOSES.map((purpose) => laneOf(SOLANA, purpose))),
    routes: new Map(),
    cctp: null,
    pool: null,
  };
}

/** The parts of a chain that differ between runs. */
interface ChainSetup {
  readonly inventory: bigint;
  readonly payoutWindowS: bigint;
  readonly attestors: readonly EvmAddress[];
  readonly threshold: number;
}

/** The same of an EVM chain. */
interface EvmSetup extends ChainSetup {
  /** Gas money of each lane. */
  readonly laneWei: bigint;
  readonly poolLimits: PoolLimits;
  /** The most that one message of the bridge may burn. */
  readonly burnLimit: bigint;
}

/** Creates Solana at its first block. The generator chooses the skipped slots. */
export function createSolana(
  { inventory, payoutWindowS, attestors, threshold }: ChainSetup,
  dice: Dice,
): FakeSlotChain {
  const contracts = { ...contractsOf(SOLANA), payoutWindowS, attestors, threshold };
  const state = new State();
  for (let user = 0; user < USERS; user++) {
    state.credit(tokenOf(SOLANA), on(SOLANA, userOf(user)), 10n ** 12n);
    state.credit(NATIVE_SOL, on(SOLANA, userOf(user)), 10n ** 18n);
  }
  state.credit(tokenOf(SOLANA), contracts.delivery, inventory);
  const skip = () => (dice.chance(0.25) ? BigInt(1 + dice.int(4)) : 0n);
  return new FakeSlotChain(contracts, state, BigInt(START_MS / 1000), skip);
}

/** Creates a chain at its first block. */
export function createChain(
  chainId: number,
  { inventory, laneWei, poolLimits, burnLimit, ...shared }: EvmSetup,
): FakeChain {
  const { payoutWindowS, attestors, threshold } = shared;
  const contracts = {
    ...contractsOf(chainId),
    payoutWindowS,
    attestors,
    threshold,
    pool: { ...poolOf(chainId), limits: poolLimits },
    cctp: { ...cctpOf(chainId), burnLimit },
  };
  const state = new State();
  const token = tokenOf(chainId);
  for (let user = 0; user < USERS; user++) {
    state.credit(token, userOf(user), 10n ** 12n);
    state.credit(NATIVE_TOKEN, userOf(user), 10n ** 6n * ETHER);
  }
  state.credit(NATIVE_TOKEN, REFUND_AUTHORITY, 10n ** 6n * ETHER);
  state.credit(NATIVE_TOKEN, STRANGER, 10n ** 6n * ETHER);
  state.credit(token, STRANGER, 10n ** 12n);
  state.credit(NATIVE_TOKEN, TRADER, 10n ** 6n * ETHER);
  state.credit(NATIVE_TOKEN, poolOf(chainId).account, 10n ** 9n * ETHER);
  state.credit(token, poolOf(chainId).account, 10n ** 18n);
  state.market = { fair: COIN_USD, pool: COIN_USD };
  state.poolPrices = [{ time: 0n, pool: COIN_USD }];
  state.credit(token, contracts.delivery, inventory);
  for (const purpose of LANE_PURPOSES)
    state.credit(NATIVE_TOKEN, laneOf(chainId, purpose), laneWei);
  return new FakeChain(contracts, state, BigInt(START_MS / 1000));
}

const NO_KEY = { kind: "raw", key: new Secret("") } as never;

/**
 * Returns the configuration of the service on these chains; unread settings are empty. A lock that is not paid within
 * `payoutWindowS` seconds is returned. The coin is cheap, so that the gas of the smallest deposit is below its fee cap.
 */
export function createConfig(
  payoutWindowS: bigint,
  gas: GasPolicy,
  between: readonly RouteChoice[number][],
  /** Whether there are pool swaps; then the price of the coin comes from its feed. */
  swaps: boolean,
  solana: boolean,
  {
    addressBps = 5_000,
    openSettlements = 1_000,
    early = null,
  }: {
    /** Share of the inventory that one address may reserve. */
    readonly addressBps?: number | undefined;
    /** Most open settlements of an integrator on a chain. */
    readonly openSettlements?: number;
    /** Payouts before finality; null for none. */
    readonly early?: EarlyPayoutsConfig | null;
  } = {},
): Config {
  const isBridged = between.some((kind) => kind === "FAST_MCTP");
  const fedBy = (address: EvmAddress) => ({
    fixed: undefined,
    feeds: [{ address, maxAgeMs: 3_600_000 }],
    http: [],
    maxDeviationBps: 100,
  });
  return {
    stateDir: "",
    databaseUrl: undefined,
    tracing: undefined,
    screening: undefined,
    refunds: NO_REFUNDS,
    api: { host: "", port: 0 },
    quote: { host: "", port: 0 },
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
    quotas: { addresses: 1_000, openSettlements },
    trustedProxies: [],
    corsOrigins: [],
    payPage: { frameAncestors: [] },
    telemetry: undefined,
    console: undefined,
    apiKeyPepper: new Secret(""),
    feeBps: FEE_BPS,
    gas,
    maxFeeBps: MAX_FEE_BPS,
    maxSlippageBps: 100,
    rateToleranceBps: 200,
    inventoryShares: { addressBps, integratorBps: 8_000 },
    payoutWindowS,
    cctp: isBridged ? { apiUrl: "" } : undefined,
    attestor: { key: NO_KEY, databaseUser: undefined, nodes: new Map() },
    attestors: { threshold: THRESHOLD, accounts: ATTESTORS, cold: [], databaseUsers: [] },
    keystorePassphrase: undefined,
    signers: { settler: undefined, attestor: undefined, vaults: undefined },
    aws: undefined,
    google: { accountFile: null, metadataHost: "" },
    deployment: undefined,
    chains: [
      ...CHAIN_IDS.map((chainId): EvmChain => ({
        ...sharedOf(chainId, swaps ? fedBy(poolOf(chainId).feed) : createFixedPrice(COIN_USD)),
        kind: "evm",
        preset: undefined,
        explorerTxUrl: "",
        evmChainId: chainId,
        startBlock: 0,
        balanceCheckIntervalMs: 5_000,
        traces: false,
        earlyPayouts: early ?? undefined,
        deliveryConfirmations: 2,
        uniswapV3: swaps ? { ...poolOf(chainId), router: poolOf(chainId).account } : undefined,
        contracts: evmContractsOf(chainId),
        cctp: isBridged ? cctpOf(chainId) : undefined,
        lanes: { deploy: [], settle: [], deliver: [], claim: [] },
        dailyGasBudget: undefined,
        gasPriceMax: 500_000_000_000n,
        transactionSurcharge: 0n,
      })),
      ...(solana ? [createSolanaConfig()] : []),
    ],
    routes: [...(solana ? listSolanaRoutes() : []), ...listRoutes(between, swaps)],
    logLevel: "silent",
    crashAt: undefined,
  };
}

/** The settings that chains of both families have. */
function sharedOf<Id extends number>(chainId: Id, priceOfCoin: PriceConfig) {
  return {
    chainId,
    name: `chain ${chainId}`,
    nodes: createNodesConfig([""], 1),
    minDepositUsd: undefined,
    pollIntervalMs: 500,
    tokens: [
      {
        symbol: "USDC",
        address: tokenOf(chainId),
        decimals: 6,
        minDeposit: MINIMUM,
        minDepositUnits: "1",
        inventoryMin: undefined,
        inventoryTarget: undefined,
        price: createFixedPrice(ETHER),
      },
      {
        symbol: "NATIVE",
        address: nativeOn(chainId),
        decimals: chainId === SOLANA ? 9 : 18,
        minDeposit: coinMinimumOf(chainId),
        minDepositUnits: "0.001",
        inventoryMin: undefined,
        inventoryTarget: undefined,
        price: priceOfCoin,
      },
    ],
  };
}

const createFixedPrice = (fixed: bigint): PriceConfig => ({
  fixed,
  feeds: [],
  http: [],
  maxDeviationBps: 100,
});

function createSolanaConfig(): SolanaChain {
  const { factory, escrow, delivery, treasury } = solanaContracts();
  const accounts = {
    binding: toSolanaAddress(factory),
    escrow: toSolanaAddress(escrow),
    delivery: toSolanaAddress(delivery),
    treasury: toSolanaAddress(treasury),
    settle: toSolanaAddress(laneOf(SOLANA, "settle")),
    deliver: toSolanaAddress(laneOf(SOLANA, "deliver")),
  };
  return {
    ...sharedOf(SOLANA, createFixedPrice(COIN_USD)),
    kind: "svm",
    preset: undefined,
    explorerTxUrl: "",
    genesisHash: toHex32(`0x${"0".repeat(64)}`),
    startSlot: 0,
    detectAt: "finalized",
    accounts,
    mints: new Map(),
    seed: NO_KEY,
    attestors: [],
    dailyCaps: new Map(),
    priorityFeeMax: 0n,
    dailyFeeBudget: undefined,
  };
}

/** Routes on Solana, from there to the first EVM chain, and back. */
function listSolanaRoutes(): RouteConfig[] {
  const [first] = CHAIN_IDS;
  const [token, other] = [tokenOf(SOLANA), tokenOf(first)];
  const stay = { kind: "MONO_CHAIN", chainId: SOLANA, contract: BINDING } as const;
  const cross = { kind: "SWIFT", priced: false } as const;
  const there = { chainId: first, token: other, destChain: SOLANA, destToken: token };
  const back = { chainId: SOLANA, token, destChain: first, destToken: other };
  return [
    configuredRoute({ ...stay, token }),
    configuredRoute({ ...stay, token: NATIVE_SOL }),
    configuredRoute({ ...cross, ...there, contract: routeOf("escrow to Solana", first) }),
    configuredRoute({ ...cross, ...back, contract: escrowOf(SOLANA) }),
  ];
}

/** Routes on each EVM chain, and between them. */
function listRoutes(between: readonly RouteChoice[number][], swaps: boolean): RouteConfig[] {
  const isBridged = between.some((kind) => kind === "FAST_MCTP");
  return CHAIN_IDS.flatMap((chainId): RouteConfig[] => [
    configuredRoute({
      kind: "MONO_CHAIN",
      chainId,
      token: tokenOf(chainId),
      contract: routeOf("token", chainId),
    }),
    configuredRoute({
      kind: "MONO_CHAIN",
      chainId,
      token: NATIVE_TOKEN,
      contract: routeOf("native", chainId),
    }),
    ...between.map((kind): RouteConfig => {
      const destChain = otherOf(chainId);
      const pair = { chainId, token: tokenOf(chainId), destChain, destToken: tokenOf(destChain) };
      return kind === "SWIFT"
        ? configuredRoute({ kind, ...pair, contract: routeOf("escrow", chainId), priced: false })
        : configuredRoute({ kind, ...pair, contract: routeOf("bridge", chainId) });
    }),
    ...(swaps ? listSwaps(chainId, isBridged) : []),
  ]);
}

/** Routes from the coin to the token of the chain and back, and over the bridge, if there is one, to the other chain's token. */
function listSwaps(chainId: number, isBridged: boolean): RouteConfig[] {
  const [token, destChain] = [tokenOf(chainId), otherOf(chainId)];
  const through = (tokenOut: Address) => ({
    swap: {
      tokenOut,
      poolFee: POOL_FEE,
      maxImpactBps: 100,
      slippageBps: 50,
      limits: { windowS: 1_800, toleranceBps: 300, perDayUnits: "1000000" },
    },
  });
  const stay = { kind: "MONO_CHAIN", chainId } as const;
  const sell = { ...stay, token: NATIVE_TOKEN, contract: routeOf("coin to token", chainId) };
  const buy = { ...stay, token, contract: routeOf("token to coin", chainId) };
  const bridge = configuredRoute({
    kind: "FAST_MCTP",
    chainId,
    token: NATIVE_TOKEN,
    destChain,
    destToken: tokenOf(destChain),
    contract: routeOf("coin to bridge", chainId),
    ...through(token),
  });
  const local = [
    configuredRoute({ ...sell, ...through(token) }),
    configuredRoute({ ...buy, ...through(NATIVE_TOKEN) }),
  ];
  return isBridged ? [...local, bridge] : local;
}

/** A deposit address and its source chain. */
export interface PaidAddress {
  readonly chainId: number;
  readonly address: DepositAddress;
}
