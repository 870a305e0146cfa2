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
  type SwapLimitsConfig,
  UnitsText,
} from "../config/index.ts";
import { parseUnits } from "../core/amounts.ts";
import { type Address, type Hex, isNative } from "../core/hex.ts";

/** Default for how far a pool's quote may differ from the fair amount, in basis points. */
const SWAP_IMPACT_MAX_BPS = 100;
/** Default for how far the pool may move between quote and swap, in basis points. The address's own cap applies too. */
const SWAP_SLIPPAGE_BPS = 50;
/** Default for the time over which the contract averages the pool's price. */
const SWAP_WINDOW_S = 1_800;
/** Default for how far below the averaged price a swap may end, in basis points. */
const SWAP_TOLERANCE_BPS = 300;

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
  dailyCap: setting(
    Type.Optional(UnitsText),
    "For a pool swap: the most of the deposited token, in whole units, that the route swaps in any 24 hours, as its contract was deployed. The contract has the cap of now, which the owner raises behind the delay and the guardian lowers.",
    { defaultText: "required where the route swaps" },
  ),
  averagingSeconds: setting(
    Type.Optional(
      Type.Integer({ minimum: 1, maximum: 86_400, description: "seconds, 1 to 86400" }),
    ),
    "For a pool swap: the time over which the contract averages the pool's price, as it was deployed; at least 600 outside a test chain. The pool must remember that long.",
    { default: SWAP_WINDOW_S },
  ),
  toleranceBps: setting(
    Type.Optional(
      Type.Integer({ minimum: 0, maximum: 9_999, description: "basis points, 0 to 9999" }),
    ),
    "For a pool swap: how far below the pool's averaged price a swap may end, whatever the attestors signed, as the contract was deployed. Must leave room for the pool's fee, the swap's impact, and honest movement in that time.",
    { default: SWAP_TOLERANCE_BPS },
  ),
};

const Written = Type.Object(PoolSettings);

/** The contract keeps a cap in 112 bits. */
const PER_DAY_END = 2n ** 112n;

/**
 * Returns the pool swap of a route, or null if it has none.
 * @param out Name and value of the setting that names the output token.
 */
export function resolveSwap(
  written: Static<typeof Written>,
  {
    name,
    tokenOut,
    chainId,
  }: { readonly name: string; readonly tokenOut: string | undefined; readonly chainId: number },
  { setting: at, problems, resolveToken }: RouteNames,
): SwapConfig | null {
  const { poolFee, maxImpactBps, slippageBps, dailyCap, averagingSeconds, toleranceBps } = written;
  if (tokenOut === undefined) {
    const limits = { dailyCap, averagingSeconds, toleranceBps };
    const given = { poolFee, maxImpactBps, slippageBps, ...limits };
    for (const [other, value] of Object.entries(given)) {
      if (value === undefined) continue;
      problems.push(`${at}.${other}: expected nothing, a route without ${name} does not swap`);
    }
    return null;
  }
  if (poolFee === undefined) {
    problems.push(`${at}.poolFee: expected the fee of the pool, because ${name} is given`);
  }
  if (dailyCap === undefined) {
    problems.push(`${at}.dailyCap: expected the daily cap of the swaps, because ${name} is given`);
  }
  return {
    tokenOut: resolveToken(tokenOut, chainId, name),
    poolFee: poolFee ?? 0,
    maxImpactBps: maxImpactBps ?? SWAP_IMPACT_MAX_BPS,
    slippageBps: slippageBps ?? SWAP_SLIPPAGE_BPS,
    limits: {
      windowS: averagingSeconds ?? SWAP_WINDOW_S,
      toleranceBps: toleranceBps ?? SWAP_TOLERANCE_BPS,
      perDayUnits: dailyCap ?? "0",
    },
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
  const decimals = decimalsOf(chain, token);
  if (decimals !== undefined && perDayOf(swap.limits, decimals) === null) {
    const { perDayUnits } = swap.limits;
    problems.push(
      `${at}.dailyCap: expected less than 2^112 base units and at most ${decimals} decimals, got "${perDayUnits}"`,
    );
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

/** Lists the limits of a swap as the last arguments of its constructor, or returns null for an unusable cap. */
export function listLimitArguments(
  chain: EvmChain,
  token: Address,
  { limits }: SwapConfig,
): readonly (Hex | number)[] | null {
  const decimals = decimalsOf(chain, token);
  const perDay = decimals === undefined ? null : perDayOf(limits, decimals);
  return perDay === null ? null : [limits.windowS, limits.toleranceBps, `0x${perDay.toString(16)}`];
}

/** Returns the first daily cap in base units, or null if the contract cannot have it. */
export function perDayOf({ perDayUnits }: SwapLimitsConfig, decimals: number): bigint | null {
  const [, fraction = ""] = perDayUnits.split(".");
  if (fraction.replace(/0+$/, "").length > decimals) return null;
  const perDay = parseUnits(perDayUnits, decimals);
  return perDay < PER_DAY_END ? perDay : null;
}

/** Returns the decimals of a token, or undefined if the chain does not list it. */
export function decimalsOf(
  { tokens }: Pick<ChainConfig, "tokens">,
  token: Address,
): number | undefined {
  return tokens.find(({ address }) => address === token)?.decimals;
}
