/** Findings about a chain that differs from its preset, or from the configuration file. */
import { describe, expect, test } from "vitest";
import {
  CHAIN,
  createDoctorDeps,
  createStrictInspector,
  nodesFor,
} from "../../test/support/doctor-doubles.ts";
import type { ChainInspector, FeedAnswer } from "../chains/inspector.ts";
import type { EvmChain } from "../config/index.ts";
import { findPreset } from "../config/presets/index.ts";
import { type EvmAddress, toEvmAddress } from "../core/hex.ts";
import { ok } from "../core/check.ts";
import { checkFeeds } from "./feeds.ts";
import { checkPublicContracts } from "./public-contracts.ts";
import { runChecks } from "./run.ts";
import { checkTokens } from "./tokens.ts";

const NOW_MS = 1_800_000_000_000;
const USD = 10n ** 18n;
const STRANGER = toEvmAddress(`0x${"b3".repeat(20)}`);
const identified = {
  id: "node.chain-id",
  subject: "chain",
  needs: [],
  run: () => ok("1", "1"),
} as const;

function readPreset(name: string) {
  const preset = findPreset(name);
  if (!preset?.cctp) throw new Error("the preset is there, with CCTP");
  const { cctp, uniswapV3, tokens } = preset;
  return {
    preset,
    messenger: toEvmAddress(cctp.messenger),
    transmitter: toEvmAddress(cctp.transmitter),
    domain: cctp.domain,
    router: toEvmAddress(uniswapV3.router),
    factory: toEvmAddress(uniswapV3.factory),
    weth: toEvmAddress(uniswapV3.weth),
    tokens,
  };
}

const facts = readPreset("polygon");

/** Returns the preset's chain, without the parts that a test does not use. */
const POLYGON: EvmChain = {
  ...CHAIN,
  preset: facts.preset,
  chainId: 5,
  name: "polygon",
  evmChainId: 137,
  cctp: { domain: facts.domain, messenger: facts.messenger, transmitter: facts.transmitter },
  uniswapV3: { router: facts.router, weth: facts.weth },
  tokens: facts.tokens.map(({ symbol, address, decimals, feed }) => ({
    symbol,
    address: toEvmAddress(address),
    decimals,
    minDeposit: undefined,
    minDepositUnits: undefined,
    inventoryMin: undefined,
    inventoryTarget: undefined,
    price: {
      fixed: undefined,
      feeds: feed ? [{ address: toEvmAddress(feed.address), maxAgeMs: 1 }] : [],
      http: [],
      maxDeviationBps: 1,
    },
  })),
};

const usdcFeed = POLYGON.tokens.find(({ symbol }) => symbol === "USDC")?.price?.feeds[0]?.address;

const pairOf = (address: EvmAddress): string =>
  facts.tokens.find(({ feed }) => feed && toEvmAddress(feed.address) === address)?.feed?.pair ??
  "?";

/** Returns a double of the public chain's node: as the preset describes it, except for the overrides. */
function createNode(given: Partial<ChainInspector>): ChainInspector {
  return createStrictInspector({
    hasCode: async () => true,
    getTokenDecimals: async (token) =>
      facts.tokens.find(({ address }) => toEvmAddress(address) === token)?.decimals ?? 0,
    getTokenSymbol: async (token) => {
      const known = facts.tokens.find(({ address }) => toEvmAddress(address) === token);
      return known?.symbolOnChain ?? known?.symbol ?? "?";
    },
    getPriceFeed: async (feed) => ({
      description: pairOf(feed),
      usd: USD,
      publishedAtMs: NOW_MS - 12_000,
    }),
    getCctpTransmitter: async () => facts.transmitter,
    getCctpDomain: async () => facts.domain,
    getSwapRouterTerms: async () => ({ factory: facts.factory, weth: facts.weth }),
    ...given,
  });
}

function examine(given: Partial<ChainInspector>, chain: EvmChain = POLYGON) {
  const deps = createDoctorDeps({ chain, nodes: nodesFor(createNode(given)), nowMs: NOW_MS });
  return runChecks([
    [
      identified,
      ...checkTokens(deps, chain, identified),
      ...checkFeeds(deps, chain, identified),
      ...checkPublicContracts(deps, chain, identified),
    ],
  ]);
}

const findProblems = async (...given: Parameters<typeof examine>) =>
  (await examine(...given)).filter(({ status }) => status === "problem" || status === "warning");

const say = (change: Partial<FeedAnswer>): Partial<ChainInspector> => ({
  getPriceFeed: async (feed) => ({
    description: pairOf(feed),
    usd: USD,
    publishedAtMs: NOW_MS,
    ...(pairOf(feed) === "USDC / USD" && change),
  }),
});

describe("a chain from a preset", () => {
  test("has no findings when it matches the preset, and checks every fact", async () => {
    const results = await examine({});
    expect(results.filter(({ status }) => status !== "ok")).toMatchObject([
      { id: "token.decimals", item: "POLYGON", status: "skipped" },
    ]);
    const count = (id: string) => results.filter((result) => result.id === id).length;
    expect(["token.symbol", "price.feed", "cctp.code", "cctp.domain"].map(count)).toEqual([
      4, 5, 2, 1,
    ]);
    expect(["uniswap.code", "uniswap.terms"].map(count)).toEqual([1, 1]);
    expect(results.find(({ id }) => id === "price.feed")).toMatchObject({
      found: '"MATIC / USD", 1 US dollars, 12 s old',
      expected: "MATIC / USD or POL / USD, above zero",
    });
  });

  test.each<[string, Partial<ChainInspector>, object]>([
    [
      "a feed of another pair",
      say({ description: "USDT / USD" }),
      { id: "price.feed", item: "USDC", status: "problem", expected: "USDC / USD, above zero" },
    ],
    [
      "a feed that is not there",
      { hasCode: async (address) => address !== usdcFeed },
      { id: "price.feed", item: "USDC", status: "problem", found: `no code at ${usdcFeed}` },
    ],
    ["a feed that says nothing", say({ usd: 0n }), { id: "price.feed", status: "problem" }],
    [
      "a messenger of another transmitter",
      { getCctpTransmitter: async () => STRANGER },
      { id: "cctp.domain", status: "problem", found: `transmitter ${STRANGER}` },
    ],
    [
      "a transmitter of another domain",
      { getCctpDomain: async () => 3 },
      { id: "cctp.domain", status: "problem", found: "domain 3", expected: "domain 7" },
    ],
    [
      "a router of another factory",
      { getSwapRouterTerms: async () => ({ factory: STRANGER, weth: facts.weth }) },
      {
        id: "uniswap.terms",
        status: "problem",
        found: `factory ${STRANGER}`,
        expected: `factory ${facts.factory}`,
      },
    ],
    [
      "a router of another wrapped coin",
      { getSwapRouterTerms: async () => ({ factory: facts.factory, weth: STRANGER }) },
      { id: "uniswap.terms", status: "problem", found: `weth ${STRANGER}` },
    ],
    [
      "a factory that is not there",
      { hasCode: async (address) => address !== facts.factory },
      { id: "uniswap.terms", status: "problem", found: `no code at its factory ${facts.factory}` },
    ],
    [
      "no messenger",
      { hasCode: async (address) => address !== facts.messenger },
      { id: "cctp.code", item: "messenger", status: "problem" },
    ],
    [
      "no transmitter",
      { hasCode: async (address) => address !== facts.transmitter },
      { id: "cctp.code", item: "transmitter", status: "problem" },
    ],
    [
      "no router",
      { hasCode: async (address) => address !== facts.router },
      { id: "uniswap.code", item: "router", status: "problem" },
    ],
  ])("with %s has that finding, and no other", async (_name, given, expected) => {
    expect(await findProblems(given)).toMatchObject([expected]);
  });

  test("accepts coins that were renamed", async () => {
    const getPriceFeed: ChainInspector["getPriceFeed"] = async (feed) => ({
      description: pairOf(feed).replace("MATIC", "POL"),
      usd: USD,
      publishedAtMs: NOW_MS,
    });
    expect(await findProblems({ getPriceFeed })).toEqual([]);
  });
});

describe("a chain without a preset", () => {
  const plain: EvmChain = { ...POLYGON, preset: undefined };

  test("accepts any Uniswap factory, and warns of a token with another symbol", async () => {
    const getSwapRouterTerms = async () => ({ factory: STRANGER, weth: facts.weth });
    expect(await findProblems({ getSwapRouterTerms }, plain)).toMatchObject([
      { id: "token.symbol", item: "USDT", status: "warning", found: '"USDT0"' },
    ]);
  });

  test("warns of a feed that is not in US dollars", async () => {
    const problems = await findProblems(say({ description: "USDC / ETH" }), plain);
    expect(problems.filter(({ id }) => id === "price.feed")).toMatchObject([
      { item: "USDC", status: "warning", expected: "a pair in US dollars, above zero" },
    ]);
    const nothing = await findProblems(say({ usd: -1n }), plain);
    expect(nothing.filter(({ id }) => id === "price.feed")).toMatchObject([{ status: "problem" }]);
  });

  test("skips CCTP and Uniswap where they are not configured", async () => {
    const bare = { ...plain, cctp: undefined, uniswapV3: undefined, tokens: [] };
    expect(await examine({}, bare)).toMatchObject([{ id: "node.chain-id" }]);
  });
});
