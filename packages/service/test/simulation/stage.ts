/** The two chains of a simulation, with what is deployed there, who has what, and the configuration of the service. */
import type { DepositAddress } from "../../src/addresses/index.ts";
import { FakeChain } from "../../src/chains/fake/model.ts";
import type { FakeCctp } from "../../src/chains/fake/cctp.ts";
import type { FakePool } from "../../src/chains/fake/pool.ts";
import { type FakeContracts, type FakeRoute, State } from "../../src/chains/fake/contracts.ts";
import { hash } from "../../src/chains/fake/codec.ts";
import type { Config, GasPolicy, LanePurpose, RouteConfig } from "../../src/config/load.ts";
import { LANE_PURPOSES } from "../../src/config/load.ts";
import { type EvmAddress, NATIVE_TOKEN, toEvmAddress } from "../../src/core/hex.ts";
import { Secret } from "../../src/core/secret.ts";
import type { RouteChoice } from "./faults.ts";

/** Where virtual time begins. */
export const START_MS = Date.parse("2026-01-05T00:00:00.000Z");
export const CHAIN_IDS = [2, 30] as const;
export type ChainId = (typeof CHAIN_IDS)[number];

/** Ten to the sixth: base units of a whole token. */
export const UNIT = 1_000_000n;
export const MINIMUM = UNIT;
export const ETHER = 10n ** 18n;
export const FEE_BPS = 10;
export const MAX_FEE_BPS = 50;

/** An account that nobody else has the name of. */
export function accountOf(name: string): EvmAddress {
  return toEvmAddress(`0x${hash("account", name).slice(26)}`);
}

export const tokenOf = (chainId: number) => accountOf(`token of ${chainId}`);
export const laneOf = (chainId: number, purpose: LanePurpose) =>
  accountOf(`lane ${purpose} ${chainId}`);
export const userOf = (number: number) => accountOf(`user ${number}`);
export const ATTESTOR = accountOf("attestor");
export const FACTORY = accountOf("factory");
export const REFUND_AUTHORITY = accountOf("refund authority");
export const USERS = 4;
/** Hands messages of the bridge in that are not theirs. */
export const STRANGER = accountOf("stranger");
/** Trades in the pools, and moves the market. */
export const TRADER = accountOf("trader");
/** What the coin is worth in dollars, times 1e18, while nobody moves it. */
export const COIN_USD = 2n * ETHER;
const POOL_FEE = 500;
/** Of the bridge, in base units: more than anybody sends. */
export const ALLOWANCE = 10n ** 15n;

const routeOf = (name: string, chainId: number) => accountOf(`route ${name} ${chainId}`);
const escrowOf = (chainId: number) => accountOf(`escrow ${chainId}`);
const deliveryOf = (chainId: number) => accountOf(`delivery ${chainId}`);
const otherOf = (chainId: number) => (chainId === 2 ? 30 : 2);

/** The bridge's number of a chain. */
export const domainOf = (chainId: number) => (chainId === 2 ? 0 : 6);
const messengerOf = (chainId: number) => accountOf(`messenger ${chainId}`);

export function cctpOf(chainId: number): FakeCctp {
  const other = otherOf(chainId);
  return {
    domain: domainOf(chainId),
    messenger: messengerOf(chainId),
    transmitter: accountOf(`transmitter ${chainId}`),
    token: tokenOf(chainId),
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
  };
}

export function contractsOf(chainId: number): FakeContracts {
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
    attestor: ATTESTOR,
    relayers: new Set(LANE_PURPOSES.map((purpose) => laneOf(chainId, purpose))),
    routes,
    cctp: cctpOf(chainId),
    pool: poolOf(chainId),
  };
}

/** A chain at its first block. `laneWei` is what each lane has for gas. */
export function createChain(
  chainId: number,
  given: { readonly inventory: bigint; readonly laneWei: bigint },
): FakeChain {
  const contracts = contractsOf(chainId);
  const state = new State();
  const token = tokenOf(chainId);
  for (let user = 0; user < USERS; user++) {
    state.credit(token, userOf(user), 10n ** 12n);
    state.credit(NATIVE_TOKEN, userOf(user), 10n ** 6n * ETHER);
  }
  state.credit(NATIVE_TOKEN, REFUND_AUTHORITY, 10n ** 6n * ETHER);
  state.credit(NATIVE_TOKEN, STRANGER, 10n ** 6n * ETHER);
  state.credit(NATIVE_TOKEN, TRADER, 10n ** 6n * ETHER);
  state.credit(NATIVE_TOKEN, poolOf(chainId).account, 10n ** 9n * ETHER);
  state.credit(token, poolOf(chainId).account, 10n ** 18n);
  state.market = { fair: COIN_USD, pool: COIN_USD };
  state.credit(token, contracts.delivery, given.inventory);
  for (const purpose of LANE_PURPOSES)
    state.credit(NATIVE_TOKEN, laneOf(chainId, purpose), given.laneWei);
  return new FakeChain(contracts, state, BigInt(START_MS / 1000));
}

const NO_KEY = { kind: "raw", key: new Secret("") } as never;

/**
 * The configuration of the service on these chains. What it never reads here is empty. A lock goes back that is not paid
 * in `payoutWindowS` seconds. The coin is cheap, so that gas that is charged fits the smallest deposit while it is calm.
 */
export function createConfig(
  payoutWindowS: bigint,
  gas: GasPolicy,
  between: readonly RouteChoice[number][],
  /** Whether there are routes through pools; then the price of the coin is what its feed says. */
  swaps: boolean,
): Config {
  const isBridged = between.some((kind) => kind === "FAST_MCTP");
  const priceOf = (fixed: bigint) => ({ fixed, feeds: [], http: [], maxDeviationBps: 100 });
  const fedBy = (address: EvmAddress) => ({
    fixed: undefined,
    feeds: [{ address, maxAgeMs: 3_600_000 }],
    http: [],
    maxDeviationBps: 100,
  });
  return {
    stateDir: "",
    databaseUrl: undefined,
    api: { host: "", port: 0 },
    quote: { host: "", port: 0 },
    rateLimits: { perKey: 1, perAddress: 1, wrongKeyPerAddress: 1, requestIndexPerKey: 1 },
    socketCaps: { perKey: 1, perAddress: 1 },
    trustedProxies: [],
    corsOrigins: [],
    telemetry: undefined,
    apiKeyPepper: new Secret(""),
    feeBps: FEE_BPS,
    gas,
    maxFeeBps: MAX_FEE_BPS,
    maxSlippageBps: 100,
    payoutWindowS,
    cctp: isBridged ? { apiUrl: "" } : undefined,
    attestor: { key: NO_KEY, nodes: new Map() },
    keystorePassphrase: undefined,
    signers: { settler: undefined, attestor: undefined, vaults: undefined },
    aws: undefined,
    deployment: undefined,
    chains: CHAIN_IDS.map((chainId) => ({
      preset: undefined,
      chainId,
      name: `chain ${chainId}`,
      kind: "evm",
      evmChainId: chainId,
      nodes: { urls: [""], quorum: 1 },
      startBlock: 0,
      minDepositUsd: undefined,
      pollIntervalMs: 500,
      balanceCheckIntervalMs: 5_000,
      traces: false,
      deliveryConfirmations: 2,
      uniswapV3: swaps ? { ...poolOf(chainId), router: poolOf(chainId).account } : undefined,
      contracts: { factory: FACTORY, escrow: escrowOf(chainId), delivery: deliveryOf(chainId) },
      cctp: isBridged ? cctpOf(chainId) : undefined,
      tokens: [
        {
          symbol: "USDC",
          address: tokenOf(chainId),
          decimals: 6,
          minDeposit: MINIMUM,
          minDepositUnits: "1",
          inventoryMin: undefined,
          price: priceOf(ETHER),
        },
        {
          symbol: "NATIVE",
          address: NATIVE_TOKEN,
          decimals: 18,
          minDeposit: ETHER / 1000n,
          minDepositUnits: "0.001",
          inventoryMin: undefined,
          price: swaps ? fedBy(poolOf(chainId).feed) : priceOf(COIN_USD),
        },
      ],
      lanes: { deploy: [], settle: [], deliver: [] },
      dailyGasBudget: undefined,
      transactionSurcharge: 0n,
    })),
    routes: CHAIN_IDS.flatMap((chainId) => [
      {
        kind: "MONO_CHAIN" as const,
        chainId,
        token: tokenOf(chainId),
        contract: routeOf("token", chainId),
      },
      {
        kind: "MONO_CHAIN" as const,
        chainId,
        token: NATIVE_TOKEN,
        contract: routeOf("native", chainId),
      },
      ...between.map((kind): RouteConfig => {
        const destChain = otherOf(chainId);
        const pair = { chainId, token: tokenOf(chainId), destChain, destToken: tokenOf(destChain) };
        return kind === "SWIFT"
          ? { kind, ...pair, contract: routeOf("escrow", chainId), priced: false }
          : { kind, ...pair, contract: routeOf("bridge", chainId) };
      }),
      ...(swaps ? listSwaps(chainId, isBridged) : []),
    ]),
    logLevel: "silent",
    crashAt: undefined,
  };
}

/** From the coin to the token of the chain and back, and to the other chain's where there is the bridge. */
function listSwaps(chainId: number, isBridged: boolean): RouteConfig[] {
  const [token, destChain] = [tokenOf(chainId), otherOf(chainId)];
  const through = (tokenOut: EvmAddress) => ({
    swap: { tokenOut, poolFee: POOL_FEE, maxImpactBps: 100, slippageBps: 50 },
  });
  const stay = { kind: "MONO_CHAIN", chainId } as const;
  const sell = { ...stay, token: NATIVE_TOKEN, contract: routeOf("coin to token", chainId) };
  const buy = { ...stay, token, contract: routeOf("token to coin", chainId) };
  const bridge: RouteConfig = {
    kind: "FAST_MCTP",
    chainId,
    token: NATIVE_TOKEN,
    destChain,
    destToken: tokenOf(destChain),
    contract: routeOf("coin to bridge", chainId),
    ...through(token),
  };
  const local = [
    { ...sell, ...through(token) },
    { ...buy, ...through(NATIVE_TOKEN) },
  ];
  return isBridged ? [...local, bridge] : local;
}

/** An address, and the chain on which it is paid. */
export interface PaidAddress {
  readonly chainId: number;
  readonly address: DepositAddress;
}
