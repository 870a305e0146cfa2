import type { Address } from "viem";
import { CHAIN_SPECS, USDC } from "./chain-specs.ts";
import type { SandboxChains } from "./chains.ts";
import type { Deployment } from "./deployment.ts";
import { writeJson } from "./json-file.ts";
import { loadPepper, type SandboxKeys } from "./keys.ts";
import { statePaths } from "./state-paths.ts";

/** Fees and minimums of the sandbox. */
export const SANDBOX_TERMS = {
  feeBps: 10,
  maxFeeBps: 50,
  maxSlippageBps: 100,
  minDeposit: "1",
} as const;

/** What the configuration is made of. */
export interface ServiceConfigOptions {
  readonly chains: SandboxChains;
  readonly deployment: Deployment;
  readonly keys: SandboxKeys;
  /** Ports of the service; 0 for any. */
  readonly ports: { readonly api: number; readonly quote: number };
  /** Default 250. */
  readonly pollIntervalMs?: number;
  /** Replaces the nodes' URLs, for a proxy in front of them. */
  readonly rpcUrls?: Partial<Readonly<Record<"ethereum" | "base", string>>>;
}

/** Writes the service's configuration file and returns its path. Secrets stay in their files. */
export function writeServiceConfig(options: ServiceConfigOptions): string {
  const { chains, deployment, keys, ports } = options;
  const paths = statePaths(chains.stateDir);
  const rpcUrl = (name: "ethereum" | "base") => options.rpcUrls?.[name] ?? chains[name].rpcUrl;
  writeJson(paths.serviceConfig, {
    stateDir: paths.database,
    api: { host: "127.0.0.1", port: ports.api },
    quote: { host: "127.0.0.1", port: ports.quote },
    apiKeyPepper: { file: loadPepper(paths.keys) },
    feeBps: SANDBOX_TERMS.feeBps,
    maxFeeBps: SANDBOX_TERMS.maxFeeBps,
    maxSlippageBps: SANDBOX_TERMS.maxSlippageBps,
    attestor: {
      key: { file: keys.attestor.path },
      rpcUrls: Object.fromEntries(
        CHAIN_SPECS.map((spec) => [String(spec.chainId), chains[spec.name].rpcUrl]),
      ),
    },
    chains: CHAIN_SPECS.map(({ name, chainId, evmChainId }) => ({
      chainId,
      evmChainId,
      rpcUrl: rpcUrl(name),
      startBlock: deployment.chains[name].startBlock,
      pollIntervalMs: options.pollIntervalMs ?? 250,
      deliveryConfirmations: 1,
      contracts: {
        factory: deployment.factory,
        escrow: deployment.chains[name].escrow,
        delivery: deployment.chains[name].delivery,
      },
      tokens: [tokenOf(deployment.chains[name].token)],
      lanes: {
        deploy: { file: keys.lanes[name].deploy.path },
        settle: { file: keys.lanes[name].settle.path },
        deliver: { file: keys.lanes[name].deliver.path },
      },
    })),
    routes: listRoutes(deployment),
    logLevel: "info",
  });
  return paths.serviceConfig;
}

function tokenOf(address: Address) {
  const { symbol, decimals } = USDC;
  return { symbol, address, decimals, minDeposit: SANDBOX_TERMS.minDeposit };
}

function listRoutes(deployment: Deployment): readonly object[] {
  return CHAIN_SPECS.flatMap(({ name, chainId }) => {
    const { token, transferRoute, escrowRoute } = deployment.chains[name];
    const swift = CHAIN_SPECS.filter((other) => other.name !== name).map((other) => ({
      kind: "SWIFT",
      chainId,
      token,
      destChain: other.chainId,
      destToken: deployment.chains[other.name].token,
      contract: escrowRoute,
    }));
    return [{ kind: "MONO_CHAIN", chainId, token, contract: transferRoute }, ...swift];
  });
}
