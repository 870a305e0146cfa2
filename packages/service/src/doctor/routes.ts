/** Checks of the contracts of the enabled routes. */
import type { BridgePair, BuiltContract, PoolTerms } from "../chains/inspector.ts";
import type { RouteConfig, SwapConfig } from "../config/load.ts";
import { assert, assertNever } from "../core/assert.ts";
import { type EvmAddress, NATIVE_TOKEN, padAddress } from "../core/hex.ts";
import { type Check, type Compared, judgeListed, judgeSame } from "./check.ts";
import { checkCode, type Place } from "./code.ts";
import { describeRoute, getChain, getToken } from "./facts.ts";

/** The route of the configuration is ours, is listed, and was made for the pair. */
export function checkRoute(
  place: Place,
  { route, factoryCode }: { readonly route: RouteConfig; readonly factoryCode: Check },
): readonly Check[] {
  const { chain, inspector, subject, deps } = place;
  const item = describeRoute(deps.config, route);
  const code = checkCode(place, {
    name: item,
    address: route.contract,
    built: builtOf(route),
  });
  const listed: Check = {
    id: "route.listed",
    subject,
    item,
    needs: [factoryCode, code],
    look: async () =>
      judgeListed(await inspector.isRoute(chain.contracts.factory, route.contract), {
        expected: "a route that the factory lists",
        advice: `Let the owner grant the route ${deps.display(route.contract)} and wait out the delay.`,
      }),
  };
  const terms: Check = {
    id: "route.terms",
    subject,
    item,
    needs: [code],
    look: () => compareTerms(place, route),
  };
  return [code, listed, terms];
}

function builtOf(route: RouteConfig): readonly BuiltContract[] {
  switch (route.kind) {
    case "MONO_CHAIN":
      return route.swap ? ["swapRoute"] : ["transferRoute"];
    case "SWIFT":
      return ["sameAssetRoute", "pricedRoute"];
    case "FAST_MCTP":
      return [route.swap ? "swapCctpRoute" : "cctpRoute"];
    default:
      return assertNever(route);
  }
}

function compareTerms(place: Place, route: RouteConfig) {
  switch (route.kind) {
    case "MONO_CHAIN":
      return route.swap ? compareSwap(place, route, route.swap) : compareTransfer(place, route);
    case "SWIFT":
      return comparePair(place, route);
    case "FAST_MCTP":
      return route.swap ? compareSwapBridge(place, route, route.swap) : compareBridge(place, route);
    default:
      return assertNever(route);
  }
}

const WRONG_ROUTE = "Correct the route's contract or its pair: the route refuses every other pair.";

async function compareTransfer(
  { chain, inspector, deps }: Place,
  route: Extract<RouteConfig, { kind: "MONO_CHAIN" }>,
) {
  const terms = await inspector.getTransferTerms(route.contract);
  return judgeSame(
    [
      { name: "evmChainId", found: terms.evmChainId, expected: chain.evmChainId },
      { name: "bridgeId", found: terms.bridgeId, expected: chain.chainId },
      {
        name: "token",
        found: deps.display(terms.token),
        expected: deps.display(route.token),
      },
    ],
    WRONG_ROUTE,
  );
}

/** The route, the quoter that is asked before it, and the pool between them. */
async function compareSwap(
  place: Place,
  route: Extract<RouteConfig, { kind: "MONO_CHAIN" }>,
  swap: SwapConfig,
) {
  const { chain, inspector } = place;
  const terms = await inspector.getSwapTerms(route.contract);
  return judgeSame(
    [
      { name: "bridgeId", found: terms.bridgeId, expected: chain.chainId },
      ...(await listPoolTerms(place, { token: route.token, swap, terms })),
    ],
    WRONG_ROUTE,
  );
}

/** What a route through a pool was made for, and whether the quoter and the pool are those that it swaps in. */
async function listPoolTerms(
  { chain, inspector, deps }: Place,
  {
    token,
    swap: { tokenOut, poolFee },
    terms,
  }: { readonly token: EvmAddress; readonly swap: SwapConfig; readonly terms: PoolTerms },
): Promise<readonly Compared[]> {
  const { uniswapV3 } = chain;
  assert(uniswapV3?.quoter, "a chain with swaps has Uniswap and its quoter");
  const { router, quoter, weth } = uniswapV3;
  const show = deps.display;
  const wrap = (address: EvmAddress) => (address === NATIVE_TOKEN ? weth : address);
  const { factory } = await inspector.getSwapRouterTerms(router);
  const asked = await inspector.getSwapRouterTerms(quoter);
  const tokens = [wrap(token), wrap(tokenOut)] as const;
  const pool = await inspector.findPool(factory, { tokens, fee: poolFee });
  const decimalsOf = (address: EvmAddress) =>
    getToken(deps.config, chain.chainId, address).decimals;
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

async function comparePair(
  { chain, inspector, deps }: Place,
  route: Extract<RouteConfig, { kind: "SWIFT" }>,
) {
  const destination = getChain(deps.config, route.destChain);
  const pair = await inspector.getEscrowPair(route.contract);
  return judgeSame(
    [
      { name: "evmChainId", found: pair.evmChainId, expected: chain.evmChainId },
      { name: "sourceChain", found: pair.sourceChain, expected: chain.chainId },
      {
        name: "sourceToken",
        found: deps.display(pair.sourceToken),
        expected: deps.display(route.token),
      },
      {
        name: "sourceDecimals",
        found: pair.sourceDecimals,
        expected: getToken(deps.config, route.chainId, route.token).decimals,
      },
      {
        name: "escrow",
        found: deps.display(pair.escrow),
        expected: deps.display(chain.contracts.escrow),
      },
      { name: "destChain", found: pair.destChain, expected: route.destChain },
      { name: "destToken", found: pair.destToken, expected: padAddress(route.destToken) },
      {
        name: "destDecimals",
        found: pair.destDecimals,
        expected: getToken(deps.config, route.destChain, route.destToken).decimals,
      },
      {
        name: "delivery",
        found: pair.delivery,
        expected: padAddress(destination.contracts.delivery),
      },
    ],
    WRONG_ROUTE,
  );
}

/** The route; Circle's contracts on its chains are looked at with the chains. */
async function compareBridge(place: Place, route: BridgeRoute) {
  const { chain, inspector, deps } = place;
  const pair = await inspector.getBridgePair(route.contract);
  const show = deps.display;
  return judgeSame(
    [
      { name: "evmChainId", found: pair.evmChainId, expected: chain.evmChainId },
      { name: "token", found: show(pair.token), expected: show(route.token) },
      ...listBridgeTerms(place, route, pair),
    ],
    WRONG_ROUTE,
  );
}

/** The same, and the pool before it. */
async function compareSwapBridge(place: Place, route: BridgeRoute, swap: SwapConfig) {
  const terms = await place.inspector.getSwapBridgePair(route.contract);
  return judgeSame(
    [
      ...(await listPoolTerms(place, { token: route.token, swap, terms })),
      ...listBridgeTerms(place, route, terms),
    ],
    WRONG_ROUTE,
  );
}

type BridgeRoute = Extract<RouteConfig, { kind: "FAST_MCTP" }>;

function listBridgeTerms(
  { chain, deps }: Place,
  route: BridgeRoute,
  pair: Omit<BridgePair, "token">,
): readonly Compared[] {
  const destination = getChain(deps.config, route.destChain);
  assert(chain.cctp && destination.cctp, "both chains of the route have the bridge");
  const show = deps.display;
  return [
    { name: "messenger", found: show(pair.messenger), expected: show(chain.cctp.messenger) },
    { name: "destChain", found: pair.destChain, expected: route.destChain },
    { name: "destToken", found: pair.destToken, expected: padAddress(route.destToken) },
    { name: "destDomain", found: pair.destDomain, expected: destination.cctp.domain },
  ];
}
