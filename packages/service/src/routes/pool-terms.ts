/** The doctor's checks of routes through a Uniswap v3 pool. */
import type { PoolTerms } from "../chains/inspector.ts";
import { isLocal, type SwapConfig } from "../config/index.ts";
import { assert } from "../core/assert.ts";
import type { Compared } from "../core/check.ts";
import { type Address, NATIVE_TOKEN, toEvmAddress } from "../core/hex.ts";
import { getToken } from "./configured.ts";
import { perDayOf } from "./pool-config.ts";
import type { RoutePlace } from "./module.ts";

/** Shortest averaging time on a chain with real money, in seconds. */
const WINDOW_MIN_S = 600;

/** Compares the terms of a route, its quoter and its pool with the configuration. */
export async function listPoolTerms(
  { chain, inspector, config, display }: RoutePlace,
  {
    token,
    contract,
    swap: { tokenOut, poolFee, limits },
    terms,
  }: {
    readonly token: Address;
    readonly contract: Address;
    readonly swap: SwapConfig;
    readonly terms: PoolTerms;
  },
): Promise<readonly Compared[]> {
  const { uniswapV3 } = chain;
  assert(uniswapV3?.quoter, "a chain with swaps has Uniswap and its quoter");
  const { router, quoter, weth } = uniswapV3;
  const show = display;
  const wrap = (address: Address) => (address === NATIVE_TOKEN ? weth : toEvmAddress(address));
  const { factory } = await inspector.getSwapRouterTerms(router);
  const asked = await inspector.getSwapRouterTerms(quoter);
  const tokens = [wrap(token), wrap(tokenOut)] as const;
  const pool = await inspector.findPool(factory, { tokens, fee: poolFee });
  const route = toEvmAddress(contract);
  const cap = await inspector.getDailyCap(route, toEvmAddress(token));
  const hasPrice = await inspector.hasAveragedPrice(route);
  const decimalsOf = (address: Address) => getToken(config, chain.chainId, address).decimals;
  return [
    { name: "evmChainId", found: terms.evmChainId, expected: chain.evmChainId },
    { name: "factory", found: show(terms.factory), expected: show(chain.contracts.factory) },
    { name: "router", found: show(terms.router), expected: show(router) },
    { name: "weth", found: show(terms.weth), expected: show(weth) },
    { name: "tokenIn", found: show(terms.tokenIn), expected: show(token) },
    { name: "decimalsIn", found: terms.decimalsIn, expected: decimalsOf(token) },
    { name: "tokenOut", found: show(terms.tokenOut), expected: show(tokenOut) },
    { name: "decimalsOut", found: terms.decimalsOut, expected: decimalsOf(tokenOut) },
    { name: "poolFee", found: terms.poolFee, expected: poolFee },
    { name: "weth of the quoter", found: show(asked.weth), expected: show(weth) },
    { name: "factory of the quoter", found: show(asked.factory), expected: show(factory) },
    { name: "pool", found: pool === null ? "none" : "one", expected: "one" },
    { name: "averagingSeconds", found: terms.limits.window, expected: limits.windowS },
    { name: "toleranceBps", found: terms.limits.toleranceBps, expected: limits.toleranceBps },
    {
      name: "dailyCap",
      found: terms.limits.perDay,
      expected: perDayOf(limits, decimalsOf(token)) ?? "an amount",
    },
    { name: "daily cap of now", found: cap > 0n ? "set" : "zero", expected: "set" },
    {
      name: "history of the pool",
      found: hasPrice ? "long enough" : "shorter than averagingSeconds",
      expected: "long enough",
    },
    ...(isLocal(chain) ? [] : [judgeWindow(terms.limits.window)]),
  ];
}

/** Judges the averaging time: a price that holds for a shorter time is cheap to hold away. */
function judgeWindow(window: number): Compared {
  const expected = `at least ${WINDOW_MIN_S} s`;
  const found = window >= WINDOW_MIN_S ? expected : `${window} s`;
  return { name: "averaging time", found, expected };
}
