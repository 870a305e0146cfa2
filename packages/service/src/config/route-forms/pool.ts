/** Routes that swap in a pool of Uniswap v3, at a price that the attestor signs. */
import { type Static, Type } from "typebox";
import type { Frozen } from "../../core/frozen.ts";
import { type Address, type Hex, isNative } from "../../core/hex.ts";
import type { ChainConfig } from "../chains.ts";
import type { EvmChain } from "../evm-chain.ts";
import { Bps, setting } from "../values.ts";
import type { Source } from "./form.ts";
import { decimalsOf, type Given, resolveTokenName } from "./settings.ts";

const SWAP_IMPACT_MAX_BPS = 100;
const SWAP_SLIPPAGE_BPS = 50;

export const Pool = {
  poolFee: setting(
    Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 999_999,
        description: "the fee of a pool in hundredths of a basis point, 1 to 999999",
      }),
    ),
    "Of a route that swaps: the fee of the Uniswap pool.",
    { defaultText: "required where the route swaps" },
  ),
  maxImpactBps: setting(
    Type.Optional(Bps),
    "Of a route that swaps: how far the pool's answer may be from the fair price.",
    { default: SWAP_IMPACT_MAX_BPS },
  ),
  slippageBps: setting(
    Type.Optional(Bps),
    "Of a route that swaps: how far the pool may then move, never more than the address allows.",
    { default: SWAP_SLIPPAGE_BPS },
  ),
};

const PoolSettings = Type.Object(Pool);

/** A swap in one pool. */
export interface SwapConfig extends Frozen<NonNullable<ReturnType<typeof resolveSwap>["swap"]>> {}

/** What a route that swaps has beside the others; nothing where it swaps nothing. */
export function resolveSwap(
  written: Static<typeof PoolSettings>,
  [name, tokenOut]: readonly [name: string, tokenOut: string | undefined],
  chainId: number,
  setting: string,
  given: Given,
) {
  const { problems } = given;
  const { poolFee, maxImpactBps, slippageBps } = written;
  if (tokenOut === undefined) {
    for (const [other, value] of Object.entries({ poolFee, maxImpactBps, slippageBps })) {
      if (value === undefined) continue;
      problems.push(`${setting}.${other}: expected nothing, a route without ${name} swaps nothing`);
    }
    return {};
  }
  if (poolFee === undefined) {
    problems.push(`${setting}.poolFee: expected the fee of the pool, as ${name} is given`);
  }
  return {
    swap: {
      /** What comes out, on the chain of the deposit. */
      tokenOut: resolveTokenName(tokenOut, chainId, `${setting}.${name}`, given),
      /** The pool's, in hundredths of a basis point. */
      poolFee: poolFee ?? 0,
      /** How far the pool's answer may be from the fair price. */
      maxImpactBps: maxImpactBps ?? SWAP_IMPACT_MAX_BPS,
      /** How far the pool may move between its answer and the swap; never more than the address allows. */
      slippageBps: slippageBps ?? SWAP_SLIPPAGE_BPS,
    },
  };
}

/** What both routes through a pool are made for, or null where the chain lacks some of it. */
export function poolArgs(
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

/** A swap exchanges two listed tokens that its pool tells apart. */
export function checkSwap(
  chains: readonly ChainConfig[],
  route: Source & { readonly swap: SwapConfig; readonly name: string },
  setting: string,
): string[] {
  const { token, swap, name } = route;
  const index = chains.findIndex(({ chainId }) => chainId === route.chainId);
  const chain = chains[index];
  if (!chain) return [];
  if (chain.kind === "svm") {
    return [`${setting}.destToken: expected nothing, no token is swapped on Solana`];
  }
  const problems: string[] = [];
  if (!chain.tokens.some(({ address }) => address === swap.tokenOut)) {
    problems.push(`${setting}.${name}: expected a listed token of chain ${route.chainId}`);
  }
  if (!chain.uniswapV3?.quoter) {
    problems.push(
      `chains[${index}].uniswapV3: expected router, quoter and weth, as ${setting} swaps there`,
    );
    return problems;
  }
  const { weth } = chain.uniswapV3;
  const wrap = (address: Address) => (isNative(address) ? weth : address);
  if (wrap(token) === wrap(swap.tokenOut)) {
    problems.push(
      `${setting}.${name}: expected another token than the deposited one, wrapped or not`,
    );
  }
  return problems;
}
