import { dirname, relative } from "node:path";
import { createRequire } from "node:module";
import { type Address, zeroAddress } from "viem";
import { CHAIN_SPECS, FEE_TOKEN, NATIVE_DECIMALS, USDC } from "./chain-specs.ts";
import type { SandboxChains } from "./chains.ts";
import type { Deployment } from "./deployment.ts";
import { writeJson } from "./json-file.ts";
import { loadPepper, type SandboxKeys } from "./keys.ts";
import { statePaths } from "./state-paths.ts";
import { deriveSolanaAccounts, deriveSolanaTreasury } from "./solana/accounts.ts";
import { GENESIS_HASH, SOLANA_TOKENS } from "./solana/genesis.ts";
import { SOL_INVENTORY, TOKEN_INVENTORY } from "./solana/service-accounts.ts";
import { FIRST_SLOT, SOLANA_SPEC } from "./solana/spec.ts";
import { POOL_FEE, SWAP_CAPS, SWAP_LIMITS } from "./uniswap.ts";

/** Fees and minimums of the sandbox. */
export const SANDBOX_TERMS = {
  feeBps: 10,
  maxFeeBps: 50,
  maxSlippageBps: 100,
  minDeposit: "1",
  /** US dollars per whole unit. */
  usdcPrice: "1",
  nativePrice: "3000",
  solPrice: "150",
  minSolDeposit: "0.001",
  minNativeDeposit: "0.0001",
} as const;

/** Input of `writeServiceConfig`. */
export interface ServiceConfigOptions {
  readonly chains: SandboxChains;
  readonly deployment: Deployment;
  readonly keys: SandboxKeys;
  /** Ports of the service; 0 for any free port. */
  readonly ports: {
    readonly api: number;
    readonly quote: number;
    /** Port of metrics and health, which are not served without it. */
    readonly telemetry?: number;
    /** Port of the operators' console, which is not served without it. */
    readonly console?: number;
  };
  /** In milliseconds. Default 250. */
  readonly pollIntervalMs?: number;
  /** Time from a lock within which its delivery can be paid, in seconds. Default: the service's default. */
  readonly payoutWindowSeconds?: number;
  /** Origins whose pages can call the service from a browser. Default: none. */
  readonly corsOrigins?: readonly string[];
  /** URL of the stand-in for Circle's attestation service. Without it there are no bridge routes. */
  readonly attestationsUrl?: string;
  /** Whether bridge routes are listed before inventory routes. */
  readonly bridgeFirst?: boolean;
  /** URL of the Solana chain's node. Without it there are no Solana routes. */
  readonly solanaRpcUrl?: string;
  /** Whether the token with a transfer fee is listed. */
  readonly feeToken?: boolean;
  /** Replaces the nodes' URLs, to put a proxy in front of the nodes. */
  readonly rpcUrls?: Partial<Readonly<Record<"ethereum" | "base", string>>>;
  /** Whether and how locks of the EVM chains are paid before they are final. */
  readonly earlyPayouts?: {
    readonly exposureUsd: string;
    readonly tiers: readonly { readonly after: number | "safe"; readonly upToUsd: string }[];
  };
  /** Levels between which the treasury contracts keep the inventory of USDC. They must receive the claims. */
  readonly refill?: { readonly inventoryMin: string; readonly inventoryTarget: string };
  /** WebSockets of the nodes, which announce new blocks. A chain without one is polled. */
  readonly wsUrls?: Partial<Readonly<Record<"ethereum" | "base" | "solana", string>>>;
}

/** The JSON schema of the file, with which editors complete it. */
const SCHEMA = createRequire(import.meta.url).resolve("@sluice/service/schema");

/** Writes the service's configuration file and returns its path. It refers to secrets by file. */
export function writeServiceConfig(options: ServiceConfigOptions): string {
  const { chains, deployment, keys, ports } = options;
  const paths = statePaths(chains.stateDir);
  const rpcUrl = (name: "ethereum" | "base") => options.rpcUrls?.[name] ?? chains[name].rpcUrl;
  writeJson(paths.serviceConfig, {
    $schema: relative(dirname(paths.serviceConfig), SCHEMA),
    stateDir: paths.database,
    api: { host: "127.0.0.1", port: ports.api },
    quote: { host: "127.0.0.1", port: ports.quote },
    ...(ports.telemetry !== undefined && {
      telemetry: { host: "127.0.0.1", port: ports.telemetry },
    }),
    ...(ports.console !== undefined && { console: { host: "127.0.0.1", port: ports.console } }),
    // Tests and demos send more requests than an integrator would.
    rateLimits: {
      perKey: 100_000,
      perAddress: 100_000,
      wrongKeyPerAddress: 100_000,
      requestIndexPerKey: 100_000,
      newAddressesPerKey: 100_000,
      nodeRequestsPerKey: 100_000,
    },
    ...(options.corsOrigins && { corsOrigins: options.corsOrigins }),
    apiKeyPepper: { file: loadPepper(paths.keys) },
    // Receivers of webhooks run on this machine.
    webhooks: { allowedRanges: ["127.0.0.0/8", "::1/128"] },
    feeBps: SANDBOX_TERMS.feeBps,
    maxFeeBps: SANDBOX_TERMS.maxFeeBps,
    maxSlippageBps: SANDBOX_TERMS.maxSlippageBps,
    ...(options.payoutWindowSeconds && { payoutWindowSeconds: options.payoutWindowSeconds }),
    ...(options.attestationsUrl !== undefined && { cctp: { apiUrl: options.attestationsUrl } }),
    // Nobody loses by these two, and they show what a policy does.
    refunds: { belowMinimum: true, unlisted: true },
    attestors: { cold: [keys.coldAttestor.account.address] },
    attestor: {
      key: { file: keys.attestor.path },
      rpcUrls: Object.fromEntries([
        ...CHAIN_SPECS.map((spec) => [String(spec.chainId), chains[spec.name].rpcUrl]),
        ...(options.solanaRpcUrl === undefined
          ? []
          : [[String(SOLANA_SPEC.chainId), options.solanaRpcUrl]]),
      ]),
    },
    chains: [
      ...CHAIN_SPECS.map(({ name, chainId, evmChainId, domain }) => ({
        chainId,
        evmChainId,
        ...describeNode(rpcUrl(name), options.wsUrls?.[name]),
        startBlock: deployment.chains[name].startBlock,
        pollIntervalMs: options.pollIntervalMs ?? 250,
        deliveryConfirmations: 1,
        ...(options.earlyPayouts && { earlyPayouts: options.earlyPayouts }),
        contracts: {
          factory: deployment.factory,
          escrow: deployment.chains[name].escrow,
          delivery: deployment.chains[name].delivery,
          ...(options.refill && { treasury: deployment.chains[name].treasury }),
        },
        ...(options.attestationsUrl !== undefined && {
          cctp: {
            domain,
            messenger: deployment.chains[name].messenger,
            transmitter: deployment.chains[name].transmitter,
          },
        }),
        uniswapV3: {
          router: deployment.chains[name].swapRouter,
          quoter: deployment.chains[name].quoter,
          weth: deployment.chains[name].weth,
        },
        balanceCheckIntervalMs: 1_000,
        tokens: [
          { ...listUsdc(deployment.chains[name].token), ...options.refill },
          listNative(name),
          // Only the bridge routes accept WETH.
          ...(options.attestationsUrl === undefined
            ? []
            : [listWeth(deployment.chains[name].weth)]),
          ...(options.feeToken ? [listFeeToken(deployment.chains[name].feeToken)] : []),
        ],
        lanes: {
          deploy: { file: keys.lanes[name].deploy.path },
          settle: { file: keys.lanes[name].settle.path },
          deliver: { file: keys.lanes[name].deliver.path },
          claim: { file: keys.lanes[name].claim.path },
        },
      })),
      ...describeSolana(options),
    ],
    routes: [...listRoutes(options), ...listSolanaRoutes(options)],
    logLevel: "info",
  });
  return paths.serviceConfig;
}

function describeNode(url: string, wsUrl: string | undefined): object {
  return wsUrl === undefined ? { rpcUrl: url } : { rpcUrls: [{ url, wsUrl }] };
}

/** Returns the configuration of the Solana chain, if there is one. */
function describeSolana({
  keys,
  solanaRpcUrl,
  wsUrls,
  pollIntervalMs = 250,
}: ServiceConfigOptions): readonly object[] {
  if (solanaRpcUrl === undefined) return [];
  const accounts = deriveSolanaAccounts(keys.solanaSeed.privateKey);
  const treasury = deriveSolanaTreasury(keys.solanaTreasury.privateKey);
  const token = (symbol: keyof typeof SOLANA_TOKENS, usd: string, minDeposit: string) => ({
    symbol,
    address: SOLANA_TOKENS[symbol].mint,
    decimals: SOLANA_TOKENS[symbol].decimals,
    minDeposit,
    price: { static: usd },
  });
  const { solPrice, minSolDeposit, usdcPrice, minDeposit } = SANDBOX_TERMS;
  return [
    {
      chainId: SOLANA_SPEC.chainId,
      ...describeNode(solanaRpcUrl, wsUrls?.solana),
      genesisHash: GENESIS_HASH,
      startSlot: Number(FIRST_SLOT),
      // A deposit is reported when confirmed and settled when final, about three seconds later in the sandbox.
      detectAt: "confirmed",
      pollIntervalMs,
      contracts: { ...accounts, treasury },
      tokens: [
        {
          symbol: SOLANA_SPEC.name.toUpperCase(),
          address: "native",
          decimals: 9,
          minDeposit: minSolDeposit,
          price: { static: solPrice },
        },
        token("WSOL", solPrice, minSolDeposit),
        token("USDC", usdcPrice, minDeposit),
        token("USDT", usdcPrice, minDeposit),
        token("WETH", SANDBOX_TERMS.nativePrice, SANDBOX_TERMS.minNativeDeposit),
      ],
      seed: { file: keys.solanaSeed.path },
      attestors: [keys.attestor.account.address, keys.coldAttestor.account.address],
      dailyCaps: {
        [SOLANA_SPEC.name.toUpperCase()]: String(SOL_INVENTORY),
        USDC: String(TOKEN_INVENTORY),
        USDT: String(TOKEN_INVENTORY),
        WETH: String(TOKEN_INVENTORY),
      },
    },
  ];
}

/** Returns the routes from, on and to the Solana chain. All of them deliver from inventory. */
function listSolanaRoutes({ deployment, solanaRpcUrl }: ServiceConfigOptions): readonly object[] {
  if (solanaRpcUrl === undefined) return [];
  const { chainId } = SOLANA_SPEC;
  const { USDC: usdc, USDT: usdt, WETH: weth, WSOL: wsol } = SOLANA_TOKENS;
  const onSolana = (token: string) => ({ kind: "MONO_CHAIN", chainId, token });
  return [
    ...["native", usdc.mint, usdt.mint, weth.mint, wsol.mint].map(onSolana),
    ...CHAIN_SPECS.flatMap(({ name, chainId: evm }) => {
      const there = deployment.chains[name];
      const fromSolana = (token: string, destToken: string) => ({
        kind: "SWIFT",
        chainId,
        token,
        destChain: evm,
        destToken,
      });
      const toSolana = (token: string, destToken: string, contract: Address) => ({
        kind: "SWIFT",
        chainId: evm,
        token,
        destChain: chainId,
        destToken,
        contract,
      });
      return [
        fromSolana(usdc.mint, there.token),
        fromSolana(weth.mint, zeroAddress),
        { ...fromSolana(usdt.mint, there.token), priced: true },
        { ...fromSolana("native", there.token), priced: true },
        { ...fromSolana(wsol.mint, there.token), priced: true },
        toSolana(there.token, usdc.mint, there.usdcToSolanaRoute),
        toSolana(zeroAddress, weth.mint, there.nativeToSolanaRoute),
        { ...toSolana(there.token, "native", there.usdcToSolRoute), priced: true },
      ];
    }),
  ];
}

function listUsdc(address: Address) {
  const { symbol, decimals } = USDC;
  const { minDeposit, usdcPrice } = SANDBOX_TERMS;
  return { symbol, address, decimals, minDeposit, price: { static: usdcPrice } };
}

function listFeeToken(address: Address) {
  const { symbol, decimals } = FEE_TOKEN;
  return { ...listUsdc(address), symbol, decimals };
}

/** Returns the native coin. Its symbol on the interface is the chain's name in upper case. */
function listNative(name: string) {
  return { symbol: name.toUpperCase(), address: zeroAddress, ...COIN };
}

function listWeth(address: Address) {
  return { symbol: "WETH", address, ...COIN };
}

const COIN = {
  decimals: NATIVE_DECIMALS,
  minDeposit: SANDBOX_TERMS.minNativeDeposit,
  price: { static: SANDBOX_TERMS.nativePrice },
} as const;

/** Returns the limits that the routes from an asset through the pool were deployed with. */
const limitsOf = (asset: keyof typeof SWAP_CAPS) => ({
  dailyCap: SWAP_CAPS[asset],
  averagingSeconds: SWAP_LIMITS.window,
  toleranceBps: SWAP_LIMITS.toleranceBps,
});

function listRoutes({
  deployment,
  attestationsUrl,
  bridgeFirst,
  feeToken,
}: ServiceConfigOptions): readonly object[] {
  return CHAIN_SPECS.flatMap(({ name, chainId }) => {
    const here = deployment.chains[name];
    const other = CHAIN_SPECS.find((spec) => spec.name !== name);
    if (!other) throw new Error("the sandbox has two chains");
    const usdcThere = deployment.chains[other.name].token;
    const onChain = (token: Address, contract: Address) => ({
      kind: "MONO_CHAIN",
      chainId,
      token,
      contract,
    });
    const swap = (token: Address, destToken: Address, contract: Address) => ({
      ...onChain(token, contract),
      destToken,
      poolFee: POOL_FEE,
      ...limitsOf(token === zeroAddress ? "native" : "usdc"),
    });
    const toOther = (token: Address, destToken: Address, contract: Address) => ({
      kind: "SWIFT",
      chainId,
      token,
      destChain: other.chainId,
      destToken,
      contract,
    });
    const bridge =
      attestationsUrl === undefined
        ? []
        : [
            { ...toOther(here.token, usdcThere, here.cctpRoute), kind: "FAST_MCTP" },
            {
              ...toOther(here.weth, usdcThere, here.wethSwapCctpRoute),
              kind: "FAST_MCTP",
              bridgeToken: here.token,
              poolFee: POOL_FEE,
              ...limitsOf("native"),
            },
          ];
    return [
      ...(bridgeFirst ? bridge : []),
      onChain(here.token, here.transferRoute),
      onChain(zeroAddress, here.nativeTransferRoute),
      swap(zeroAddress, here.token, here.nativeToUsdcSwapRoute),
      swap(here.token, zeroAddress, here.usdcToNativeSwapRoute),
      toOther(here.token, usdcThere, here.escrowRoute),
      toOther(zeroAddress, zeroAddress, here.nativeEscrowRoute),
      { ...toOther(here.token, zeroAddress, here.usdcToNativeRoute), priced: true },
      { ...toOther(zeroAddress, usdcThere, here.nativeToUsdcRoute), priced: true },
      ...(feeToken
        ? [{ ...toOther(here.feeToken, usdcThere, here.feeTokenRoute), priced: true }]
        : []),
      ...(bridgeFirst ? [] : bridge),
    ];
  });
}
