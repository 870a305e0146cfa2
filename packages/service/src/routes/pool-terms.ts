/** The doctor's checks of routes through a Uniswap v3 pool. */
import type { PoolTerms } from "../chains/inspector.ts";
import type { SwapConfig } from "../config/index.ts";
import { assert } from "../core/assert.ts";
import type { Compared } from "../core/check.ts";
import { type Address, NATIVE_TOKEN, toEvmAddress } from "../core/hex.ts";
import { getToken } from "./configured.ts";
import type { RoutePlace } from "./module.ts";

/** Compares the terms of a route, its quoter and its pool with the configuration. */
export async function listPoolTerms(
  { chain, inspector, config, display }: RoutePlace,
  {
    token,
    swap: { tokenOut, poolFee },
    terms,
  }: { readonly token: Address; readonly swap: SwapConfig; readonly terms: PoolTerms },
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
  ];
}
