/** Writes `sandbox.json`, through which tests, demos and an integrator's CI find the sandbox. */
import { type Address, type Hex, zeroAddress } from "viem";
import { FEE_TOKEN, NATIVE_DECIMALS, USDC } from "./chain-specs.ts";
import type { SandboxChains } from "./chains.ts";
import type { Deployment } from "./deployment.ts";
import type { IntegratorKey } from "./integrators.ts";
import { writeJson } from "./json-file.ts";
import type { SandboxKeys } from "./keys.ts";
import type { RunningService } from "./service.ts";
import { deriveSolanaAccounts } from "./solana/accounts.ts";
import { GENESIS_HASH, SOLANA_TOKENS } from "./solana/genesis.ts";
import type { SolanaPayer } from "./solana/payers.ts";
import { SOLANA_SPEC } from "./solana/spec.ts";
import { statePaths } from "./state-paths.ts";
import { POOL_FEE } from "./uniswap.ts";

/** Represents native SOL where a mint is expected. */
const NATIVE_SOL = "11111111111111111111111111111111";

/** Content of `sandbox.json`. */
export interface Descriptor {
  readonly baseUrl: string;
  readonly quoteUrl: string;
  /** Pages for people, by the service itself. */
  readonly webUrl: string;
  /** The console, which asks for an API key. */
  readonly consoleUrl: string;
  /** The operators' console; `sluice operators invite` makes a link to sign in. */
  readonly operatorsUrl: string | undefined;
  /** The pay page of the demo's address; absent until the demo has run. */
  readonly payUrl?: string;
  /** Metrics and health. */
  readonly telemetryUrl: string | undefined;
  /** The control endpoint, which plays scenarios. */
  readonly controlUrl: string;
  /** The key of the last one has deposit addressing off. */
  readonly integrators: readonly IntegratorKey[];
  readonly chains: readonly DescribedChain[];
}

/** A chain in `sandbox.json`. EVM chains come first. */
export type DescribedChain = DescribedEvmChain | DescribedSolanaChain;

/** The Solana chain in `sandbox.json`. */
export interface DescribedSolanaChain {
  /** Bridge chain id. */
  readonly chainId: number;
  readonly name: string;
  readonly kind: "svm";
  readonly rpcUrl: string;
  /** Subscriptions: at the port after that of `rpcUrl`. */
  readonly wsUrl: string;
  readonly genesisHash: string;
  /** Account that signs the bindings of deposit addresses, against which they are verified. */
  readonly bindingAccount: string;
  readonly tokens: readonly {
    readonly symbol: string;
    /** The mint; for the native coin, the address that represents it. */
    readonly address: string;
    readonly standard: "native" | "spl";
    readonly decimals: number;
  }[];
  /** Accounts with SOL and every token but WSOL. Worthless outside the sandbox. */
  readonly funded: readonly SolanaPayer[];
}

/** An EVM chain in `sandbox.json`. */
export interface DescribedEvmChain {
  /** Bridge chain id. */
  readonly chainId: number;
  readonly name: string;
  readonly kind: "evm";
  readonly rpcUrl: string;
  /** Subscriptions. */
  readonly wsUrl: string;
  readonly evmChainId: number;
  readonly tokens: readonly {
    readonly symbol: string;
    readonly address: Address;
    readonly standard: "native" | "erc20";
    readonly decimals: number;
  }[];
  /** Factory of the deposit wallets, against which addresses are verified. */
  readonly factory: Address;
  /** Uniswap v3, with a pool of USDC and the native coin; `poolFee` is in hundredths of a basis point. */
  readonly uniswapV3: {
    readonly router: Address;
    readonly quoter: Address;
    readonly weth: Address;
    readonly poolFee: number;
  };
  /** Accounts with ETH and USDC. Worthless outside the sandbox. */
  readonly funded: readonly { readonly address: Address; readonly privateKey: Hex }[];
}

/** The parts of a sandbox that the descriptor is made from. */
interface DescriptorParts {
  readonly chains: SandboxChains;
  readonly solana: {
    readonly rpcUrl: string;
    readonly wsUrl: string;
    readonly payers: readonly SolanaPayer[];
  };
  readonly deployment: Deployment;
  readonly keys: SandboxKeys;
  readonly service: Pick<RunningService, "baseUrl" | "quoteUrl" | "telemetryUrl" | "operatorsUrl">;
  readonly integrators: readonly IntegratorKey[];
  readonly controlUrl: string;
}

/** Writes `sandbox.json` and returns its content. */
export function writeDescriptor(parts: DescriptorParts): Descriptor {
  const { chains, solana, service, integrators, controlUrl } = parts;
  const descriptor: Descriptor = {
    baseUrl: service.baseUrl,
    quoteUrl: service.quoteUrl,
    webUrl: service.baseUrl,
    consoleUrl: `${service.baseUrl}/console`,
    telemetryUrl: service.telemetryUrl,
    operatorsUrl: service.operatorsUrl,
    controlUrl,
    integrators,
    chains: [...describeEvm(parts), describeSolana(solana, parts.keys)],
  };
  writeJson(statePaths(chains.stateDir).descriptor, descriptor);
  return descriptor;
}

function describeEvm({ chains, deployment, keys }: DescriptorParts): readonly DescribedEvmChain[] {
  return chains.all.map(({ chainId, name, rpcUrl, wsUrl, evmChainId }) => ({
    chainId,
    name,
    kind: "evm",
    rpcUrl,
    wsUrl,
    evmChainId,
    tokens: [
      {
        symbol: USDC.symbol,
        address: deployment.chains[name].token,
        standard: "erc20",
        decimals: USDC.decimals,
      },
      {
        symbol: name.toUpperCase(),
        address: zeroAddress,
        standard: "native",
        decimals: NATIVE_DECIMALS,
      },
      {
        symbol: "WETH",
        address: deployment.chains[name].weth,
        standard: "erc20",
        decimals: NATIVE_DECIMALS,
      },
      {
        symbol: FEE_TOKEN.symbol,
        address: deployment.chains[name].feeToken,
        standard: "erc20",
        decimals: FEE_TOKEN.decimals,
      },
    ],
    factory: deployment.factory,
    uniswapV3: {
      router: deployment.chains[name].swapRouter,
      quoter: deployment.chains[name].quoter,
      weth: deployment.chains[name].weth,
      poolFee: POOL_FEE,
    },
    funded: keys.payers[name].map(({ account, privateKey }) => ({
      address: account.address,
      privateKey,
    })),
  }));
}

function describeSolana(
  { rpcUrl, wsUrl, payers }: DescriptorParts["solana"],
  { solanaSeed }: SandboxKeys,
): DescribedSolanaChain {
  const { chainId, name } = SOLANA_SPEC;
  return {
    chainId,
    name,
    kind: "svm",
    rpcUrl,
    wsUrl,
    genesisHash: GENESIS_HASH,
    bindingAccount: deriveSolanaAccounts(solanaSeed.privateKey).binding,
    tokens: [
      { symbol: name.toUpperCase(), address: NATIVE_SOL, standard: "native", decimals: 9 },
      ...Object.values(SOLANA_TOKENS).map(({ symbol, mint, decimals }) => ({
        symbol,
        address: mint,
        standard: "spl" as const,
        decimals,
      })),
    ],
    funded: payers,
  };
}
