/**
 * Where our contracts stand when they were made through the deterministic deployer with the salt zero: an address then
 * follows from the code of this build and the arguments of the constructor (EIP-1014), and nobody has to write it down.
 * Whoever sends the transaction plays no part. Another build makes other addresses wherever the code changed: a test says
 * where the factory stands, which must never move, and `serve` refuses contracts that are not there.
 */
import {
  cctpRouteBytecode,
  deliveryBytecode,
  depositFactoryBytecode,
  escrowBytecode,
  pricedRouteBytecode,
  sameAssetRouteBytecode,
  swapCctpRouteBytecode,
  swapRouteBytecode,
  transferRouteBytecode,
} from "@sluice/contracts/bytecode";
import { create2Address } from "@sluice/sdk/address";
import { keccak_256 } from "@noble/hashes/sha3";
import { bytesToHex, hexToBytes } from "@noble/hashes/utils";
import { assertNever } from "../core/assert.ts";
import { type EvmAddress, type Hex, NATIVE_TOKEN, padAddress, toEvmAddress } from "../core/hex.ts";
import type { ChainConfig, RouteConfig, SwapConfig } from "./load.ts";
import type { WrittenDeployment } from "./schema.ts";

/** Stands on public chains at the same address; made of 32 bytes of salt and the creation code, it creates with CREATE2. */
export const DETERMINISTIC_DEPLOYER = toEvmAddress("0x4e59b44847b379578588920cA78FbF26c0B4956C");
export const DEPLOYMENT_SALT: Hex = `0x${"0".repeat(64)}`;

/** What the doctor demands where money is real. */
const DELAY_S = 604_800;

/** Whom the contracts were made for. Later changes of the owner or the guardian are not those of the constructor. */
export interface DeploymentConfig {
  readonly owner: EvmAddress;
  readonly guardian: EvmAddress;
  readonly treasury: EvmAddress;
  readonly feeRecipient: EvmAddress;
  readonly delaySeconds: number;
}

/** A contract before it is made: what creates it, and where that puts it. */
export interface Derived {
  readonly initCode: Hex;
  readonly address: EvmAddress;
}

/** A route without its contract. */
export type RoutePair = WithoutContract<RouteConfig>;
type WithoutContract<Route> = Route extends unknown ? Omit<Route, "contract"> : never;

/** The deployment of the file, with its defaults. */
export function deploymentOf(
  written: WrittenDeployment | undefined,
  problems: string[],
): DeploymentConfig | undefined {
  if (!written) return undefined;
  const { owner, guardian, treasury, feeRecipient = treasury, delaySeconds = DELAY_S } = written;
  const accounts = { owner, guardian, treasury, feeRecipient };
  for (const [name, account] of Object.entries(accounts)) {
    if (account === NATIVE_TOKEN) {
      problems.push(`deployment.${name}: expected an account, not the zero address`);
    }
  }
  return {
    owner: toEvmAddress(owner),
    guardian: toEvmAddress(guardian),
    treasury: toEvmAddress(treasury),
    feeRecipient: toEvmAddress(feeRecipient),
    delaySeconds,
  };
}

/** One for all chains. */
export function deriveFactory({ owner, guardian, delaySeconds }: DeploymentConfig): Derived {
  return derive(depositFactoryBytecode, [owner, guardian, delaySeconds]);
}

/** What `Escrow` and `Delivery` are made for. */
interface Place {
  readonly factory: EvmAddress;
  readonly chainId: number;
  readonly evmChainId: number;
}

export function deriveEscrow({ treasury }: DeploymentConfig, place: Place): Derived {
  const { factory, chainId, evmChainId } = place;
  return derive(escrowBytecode, [factory, chainId, evmChainId, treasury]);
}

export function deriveDelivery(
  { owner, guardian, delaySeconds, treasury }: DeploymentConfig,
  { factory, chainId }: Omit<Place, "evmChainId">,
): Derived {
  return derive(deliveryBytecode, [owner, guardian, delaySeconds, factory, chainId, treasury]);
}

/** What both routes through a pool are made for, or null where the chain lacks some of it. */
function poolArgs(
  { contracts, uniswapV3, ...chain }: ChainConfig,
  token: EvmAddress,
  { tokenOut, poolFee }: SwapConfig,
): readonly (Hex | number)[] | null {
  const decimalsIn = decimalsOf(chain, token);
  const decimalsOut = decimalsOf(chain, tokenOut);
  if (!uniswapV3 || decimalsIn === undefined || decimalsOut === undefined) return null;
  const { router, weth } = uniswapV3;
  return [contracts.factory, router, weth, token, decimalsIn, tokenOut, decimalsOut, poolFee];
}

/** Null where a chain of the pair is not configured, does not list the token, or lacks the bridge, and from Solana. */
export function deriveRoute(
  { feeRecipient }: DeploymentConfig,
  chains: readonly ChainConfig[],
  pair: RoutePair,
): Derived | null {
  const { chainId, token } = pair;
  const source = chains.find((chain) => chain.chainId === chainId);
  if (source?.kind !== "evm") return null;
  const { evmChainId } = source;
  if (pair.kind === "MONO_CHAIN") {
    if (pair.swap) {
      const pool = poolArgs(source, token, pair.swap);
      return pool && derive(swapRouteBytecode, [evmChainId, chainId, ...pool, feeRecipient]);
    }
    return derive(transferRouteBytecode, [evmChainId, chainId, token, feeRecipient]);
  }
  const { destChain, destToken } = pair;
  const destination = chains.find((chain) => chain.chainId === destChain);
  if (!destination) return null;
  switch (pair.kind) {
    case "SWIFT": {
      const decimalsIn = decimalsOf(source, token);
      const decimalsOut = decimalsOf(destination, destToken);
      if (decimalsIn === undefined || decimalsOut === undefined) return null;
      return derive(pair.priced ? pricedRouteBytecode : sameAssetRouteBytecode, [
        evmChainId,
        chainId,
        token,
        decimalsIn,
        source.contracts.escrow,
        destChain,
        padAddress(destToken),
        decimalsOut,
        padAddress(destination.contracts.delivery),
      ]);
    }
    case "FAST_MCTP": {
      if (!source.cctp || !destination.cctp) return null;
      const bridge = [
        source.cctp.messenger,
        destChain,
        padAddress(destToken),
        destination.cctp.domain,
      ] as const;
      if (pair.swap) {
        const pool = poolArgs(source, token, pair.swap);
        return (
          pool && derive(swapCctpRouteBytecode, [evmChainId, ...pool, ...bridge, feeRecipient])
        );
      }
      return derive(cctpRouteBytecode, [evmChainId, token, ...bridge, feeRecipient]);
    }
    default:
      return assertNever(pair);
  }
}

function decimalsOf(
  { tokens }: Pick<ChainConfig, "tokens">,
  token: EvmAddress,
): number | undefined {
  return tokens.find(({ address }) => address === token)?.decimals;
}

/** Every argument of ours is a value of one word, also inside the structs: they stand one after the other. */
function derive(bytecode: Hex, args: readonly (Hex | number)[]): Derived {
  const initCode: Hex = `${bytecode}${args.map(wordOf).join("")}`;
  const initCodeHash = `0x${bytesToHex(keccak_256(hexToBytes(initCode.slice(2))))}`;
  const address = create2Address({
    deployer: DETERMINISTIC_DEPLOYER,
    salt: DEPLOYMENT_SALT,
    initCodeHash,
  });
  return { initCode, address: toEvmAddress(address) };
}

/** A word of 32 bytes, without `0x`. */
function wordOf(value: Hex | number): string {
  return (typeof value === "number" ? value.toString(16) : value.slice(2)).padStart(64, "0");
}
