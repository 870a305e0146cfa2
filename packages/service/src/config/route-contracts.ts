/** The contracts of routes, as they follow from the deployment. */
import {
  cctpRouteBytecode,
  pricedRouteBytecode,
  sameAssetRouteBytecode,
  swapCctpRouteBytecode,
  swapRouteBytecode,
  transferRouteBytecode,
} from "@sluice/contracts/bytecode";
import { assertNever } from "../core/assert.ts";
import { type Address, type Hex, padAddress } from "../core/hex.ts";
import { type ChainConfig, deliveryOf, findEvmChain } from "./chains.ts";
import { derive, type DeploymentConfig, type Derived } from "./deployment.ts";
import type { EvmChain } from "./evm-chain.ts";
import type { RoutePair, SwapConfig } from "./route-config.ts";

/** What both routes through a pool are made for, or null where the chain lacks some of it. */
function poolArgs(
  { contracts, uniswapV3, ...chain }: EvmChain,
  token: Address,
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
  const source = findEvmChain({ chains }, chainId);
  if (!source) return null;
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
        padAddress(deliveryOf(destination)),
      ]);
    }
    case "FAST_MCTP": {
      const { cctp } = findEvmChain({ chains }, destChain) ?? {};
      if (!source.cctp || !cctp) return null;
      const bridge = [
        source.cctp.messenger,
        destChain,
        padAddress(destToken),
        cctp.domain,
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

function decimalsOf({ tokens }: Pick<ChainConfig, "tokens">, token: Address): number | undefined {
  return tokens.find(({ address }) => address === token)?.decimals;
}
