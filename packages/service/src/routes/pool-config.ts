/** Configuration of routes through a Uniswap v3 pool. */
import { type Static, Type } from "typebox";
import {
  Bps,
  type ChainConfig,
  type Config,
  type EvmChain,
  findEvmChain,
  type RouteNames,
  setting,
  type SwapConfig,
} from "../config/index.ts";
import { type Address, type Hex, isNative } from "../core/hex.ts";

/** Default for how far a pool's quote may differ from the fair amount, in basis points. */
const SWAP_IMPACT_MAX_BPS = 100;
/** Default for how far the pool may move between quote and swap, in basis points. The address's own cap applies too. */
const SWAP_SLIPPAGE_BPS = 50;

/** Settings of a route that swaps in a pool. */
export const PoolSettings = {
  poolFee: setting(
    Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 999_999,
        description: "the fee of a pool in hundredths of a basis point, 1 to 999999",
      }),
    ),
    "For a pool swap: the fee of the Uniswap pool.",
    { defaultText: "required where the route swaps" },
  ),
  maxImpactBps: setting(
    Type.Optional(Bps),
    "For a pool swap: the largest difference between the pool's quote and the price of the sources.",
    { default: SWAP_IMPACT_MAX_BPS },
  ),
  slippageBps: setting(
    Type.Optional(Bps),
    "For a pool swap: the largest movement of the pool's price after the quote. The slippage cap of the address applies too.",
    { default: SWAP_SLIPPAGE_BPS },
  ),
};

const Written = Type.Object(PoolSettings);

/**
 * Returns the pool swap of a route, or null if it has none.
 * @param out Name and value of the setting that names the output token.
 */
export function resolveSwap(
  { poolFee, maxImpactBps, slippageBps }: Static<typeof Written>,
  {
    name,
    tokenOut,
    chainId,
  }: { readonly name: string; readonly tokenOut: string | undefined; readonly chainId: number },
  { setting: at, problems, resolveToken }: RouteNames,
): SwapConfig | null {
  if (tokenOut === undefined) {
    for (const [other, value] of Object.entries({ poolFee, maxImpactBps, slippageBps })) {
      if (value === undefined) continue;
      problems.push(`${at}.${other}: expected nothing, a route without ${name} does not swap`);
    }
    return null;
  }
  if (poolFee === undefined) {
    problems.push(`${at}.poolFee: expected the fee of the pool, because ${name} is given`);
  }
  return {
    tokenOut: resolveToken(tokenOut, chainId, name),
    poolFee: poolFee ?? 0,
    maxImpactBps: maxImpactBps ?? SWAP_IMPACT_MAX_BPS,
    slippageBps: slippageBps ?? SWAP_SLIPPAGE_BPS,
  };
}

/** Lists the problems of a swap. Both tokens must be listed, and distinct after wrapping the native coin. */
export function findSwapProblems(
  config: Pick<Config, "chains">,
  {
    chainId,
    token,
    swap,
  }: { readonly chainId: number; readonly token: Address; readonly swap: SwapConfig },
  { setting: at, name }: { readonly setting: string; readonly name: string },
): string[] {
  const index = config.chains.findIndex((known) => known.chainId === chainId);
  if (index === -1) return [];
  const chain = findEvmChain(config, chainId);
  if (!chain) {
    return [`${at}.destToken: expected nothing, no token is swapped on Solana`];
  }
  const problems: string[] = [];
  if (!chain.tokens.some(({ address }) => address === swap.tokenOut)) {
    problems.push(`${at}.${name}: expected a listed token of chain ${chainId}`);
  }
  if (!chain.uniswapV3?.quoter) {
    problems.push(
      `chains[${index}].uniswapV3: expected router, quoter and weth, because ${at} swaps there`,
    );
    return problems;
  }
  const { weth } = chain.uniswapV3;
  const wrap = (address: Address) => (isNative(address) ? weth : address);
  if (wrap(token) === wrap(swap.tokenOut)) {
    problems.push(
      `${at}.${name}: expected a token other than the deposited one or its wrapped form`,
    );
  }
  return problems;
}

/** Lists the constructor arguments of a route through a pool, or returns null if the chain lacks one of them. */
export function listPoolArguments(
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

/** Returns the decimals of a token, or undefined if the chain does not list it. */
export function decimalsOf(
  { tokens }: Pick<ChainConfig, "tokens">,
  token: Address,
): number | undefined {
  return tokens.find(({ address }) => address === token)?.decimals;
}
