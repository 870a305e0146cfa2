/** Contract addresses of a sandbox, stored in its state directory. */
import { isAddress, type Address } from "viem";
import { CHAIN_SPECS, type ChainName } from "./chain-specs.ts";
import type { SandboxChains } from "./chains.ts";
import { SandboxError } from "./errors.ts";
import { asRecord, readJson, writeJson } from "./json-file.ts";
import type { UniswapContracts } from "./uniswap.ts";

/** Contracts of one chain. All of them have other addresses on the other chain. */
export interface ChainDeployment extends UniswapContracts {
  readonly token: Address;
  readonly escrow: Address;
  readonly delivery: Address;
  /** USDC to USDC of the same chain. */
  readonly transferRoute: Address;
  /** Native coin to native coin of the same chain. */
  readonly nativeTransferRoute: Address;
  /** USDC to USDC of the other chain. */
  readonly escrowRoute: Address;
  /** Native coin to native coin of the other chain. */
  readonly nativeEscrowRoute: Address;
  /** USDC to native coin of the other chain, at a price. */
  readonly usdcToNativeRoute: Address;
  /** Native coin to USDC of the other chain, at a price. */
  readonly nativeToUsdcRoute: Address;
  /** Stand-ins for Circle's contracts. */
  readonly transmitter: Address;
  readonly messenger: Address;
  /** USDC to USDC of the other chain, through the bridge. */
  readonly cctpRoute: Address;
  /** Native coin to USDC of the same chain, through the pool. */
  readonly nativeToUsdcSwapRoute: Address;
  /** USDC to native coin of the same chain, through the pool. */
  readonly usdcToNativeSwapRoute: Address;
  /** Wrapped native coin to USDC of the other chain, through the pool and the bridge. */
  readonly wethSwapCctpRoute: Address;
  /** USDC to USDC of the Solana chain. */
  readonly usdcToSolanaRoute: Address;
  /** Native coin to WETH of the Solana chain. */
  readonly nativeToSolanaRoute: Address;
  /** USDC to SOL, at a price. */
  readonly usdcToSolRoute: Address;
  /** The token with a transfer fee. */
  readonly feeToken: Address;
  /** The token with a transfer fee to USDC of the other chain, at a price. */
  readonly feeTokenRoute: Address;
  /** The contract that holds claims, where it is in service. */
  readonly treasury: Address;
  /** The block of the first deployment. */
  readonly startBlock: number;
}

/** Contracts of a sandbox. */
export interface Deployment {
  /** Has the same address on both chains. */
  readonly factory: Address;
  readonly chains: Readonly<Record<ChainName, ChainDeployment>>;
}

/** Reads the stored deployment; undefined if there is none. */
export function readDeployment(path: string): Deployment | undefined {
  const value = readJson(path);
  if (value === undefined) return undefined;
  const file = asRecord(value);
  const chains = asRecord(file?.["chains"]);
  return {
    factory: checkAddress(path, file?.["factory"]),
    chains: {
      ethereum: checkChain(path, chains?.["ethereum"]),
      base: checkChain(path, chains?.["base"]),
    },
  };
}

/** Stores a deployment. */
export function writeDeployment(path: string, deployment: Deployment): void {
  writeJson(path, deployment);
}

/** Throws a `SandboxError` if a contract of the deployment has no code. */
export async function assertDeployed(chains: SandboxChains, deployment: Deployment): Promise<void> {
  const contracts = CHAIN_SPECS.flatMap(({ name }) => {
    const { startBlock: _block, ...addresses } = deployment.chains[name];
    return [deployment.factory, ...Object.values(addresses)].map((address) => ({ name, address }));
  });
  await Promise.all(
    contracts.map(async ({ name, address }) => {
      const code = await chains[name].client.getCode({ address });
      if (code !== undefined && code !== "0x") return;
      throw new SandboxError(
        `the contract ${address} has no code on ${name}, although it was deployed: start again with --fresh`,
      );
    }),
  );
}

function checkChain(path: string, value: unknown): ChainDeployment {
  const chain = asRecord(value);
  const startBlock = chain?.["startBlock"];
  if (typeof startBlock !== "number") throw damaged(path);
  return {
    token: checkAddress(path, chain?.["token"]),
    escrow: checkAddress(path, chain?.["escrow"]),
    delivery: checkAddress(path, chain?.["delivery"]),
    transferRoute: checkAddress(path, chain?.["transferRoute"]),
    nativeTransferRoute: checkAddress(path, chain?.["nativeTransferRoute"]),
    escrowRoute: checkAddress(path, chain?.["escrowRoute"]),
    nativeEscrowRoute: checkAddress(path, chain?.["nativeEscrowRoute"]),
    usdcToNativeRoute: checkAddress(path, chain?.["usdcToNativeRoute"]),
    nativeToUsdcRoute: checkAddress(path, chain?.["nativeToUsdcRoute"]),
    transmitter: checkAddress(path, chain?.["transmitter"]),
    messenger: checkAddress(path, chain?.["messenger"]),
    cctpRoute: checkAddress(path, chain?.["cctpRoute"]),
    nativeToUsdcSwapRoute: checkAddress(path, chain?.["nativeToUsdcSwapRoute"]),
    usdcToNativeSwapRoute: checkAddress(path, chain?.["usdcToNativeSwapRoute"]),
    wethSwapCctpRoute: checkAddress(path, chain?.["wethSwapCctpRoute"]),
    weth: checkAddress(path, chain?.["weth"]),
    uniswapFactory: checkAddress(path, chain?.["uniswapFactory"]),
    swapRouter: checkAddress(path, chain?.["swapRouter"]),
    quoter: checkAddress(path, chain?.["quoter"]),
    positionManager: checkAddress(path, chain?.["positionManager"]),
    usdcToSolanaRoute: checkAddress(path, chain?.["usdcToSolanaRoute"]),
    nativeToSolanaRoute: checkAddress(path, chain?.["nativeToSolanaRoute"]),
    usdcToSolRoute: checkAddress(path, chain?.["usdcToSolRoute"]),
    feeToken: checkAddress(path, chain?.["feeToken"]),
    feeTokenRoute: checkAddress(path, chain?.["feeTokenRoute"]),
    treasury: checkAddress(path, chain?.["treasury"]),
    startBlock,
  };
}

function checkAddress(path: string, value: unknown): Address {
  if (typeof value === "string" && isAddress(value)) return value;
  throw damaged(path);
}

function damaged(path: string): SandboxError {
  return new SandboxError(`${path} is damaged: start again with --fresh`);
}
