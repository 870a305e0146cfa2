/** The presets are consistent, cite their sources, and agree with the chain registry. */
import { isAddress } from "@sluice/sdk/address";
import { describe, expect, test } from "vitest";
import { NATIVE_TOKEN } from "../../core/hex.ts";
import { TEST_NETWORKS } from "../../core/chain-registry.ts";
import { chainOf, findPreset, isTest, listMarkets, maxAgeSecondsOf, PRESETS } from "./index.ts";
import { PACKAGES } from "./sources.ts";

const each = PRESETS.map((preset) => [preset.name, preset] as const);

const MAINS = PRESETS.filter((preset) => !isTest(preset));

test("has one preset for each of nine chains, and one for each test network", () => {
  expect(PRESETS.filter(isTest).map(({ name }) => name)).toEqual(
    TEST_NETWORKS.map(({ name }) => name),
  );
  expect(MAINS.map(({ name }) => name).toSorted()).toEqual([
    "arbitrum",
    "avalanche",
    "base",
    "bsc",
    "ethereum",
    "linea",
    "optimism",
    "polygon",
    "unichain",
  ]);
  expect(findPreset("base")?.name).toBe("base");
  expect(findPreset("sonic")).toBeUndefined();
});

describe.each(each)("the preset %s", (_, preset) => {
  const { name } = chainOf(preset);
  const sourced = [
    ...preset.tokens.flatMap((token) => (token.feed ? [token, token.feed] : [token])),
    ...(preset.cctp ? [preset.cctp] : []),
    preset.uniswapV3,
  ];

  test("has valid checksums, and lists each token once", () => {
    const { tokens, cctp, uniswapV3 } = preset;
    const addresses = [
      ...tokens.flatMap(({ address, feed }) => [address, ...(feed ? [feed.address] : [])]),
      ...(cctp ? [cctp.messenger, cctp.transmitter] : []),
      uniswapV3.router,
      uniswapV3.factory,
      uniswapV3.weth,
    ];
    expect(addresses.filter((address) => !isAddress(address))).toEqual([]);
    // Lower case would be valid too, but would hide a typing error.
    expect(addresses.filter((address) => /[a-f]/.test(address.slice(2)))).not.toEqual([]);
    expect(new Set(tokens.map(({ address }) => address)).size).toBe(tokens.length);
    expect(new Set(tokens.map(({ symbol }) => symbol)).size).toBe(tokens.length);
  });

  test("cites a page and a package for each fact", () => {
    const known: readonly string[] = Object.values(PACKAGES);
    for (const { source, comparedWith } of sourced) {
      expect(source).toMatch(/^https:\/\/\S+$/);
      expect(comparedWith.length).toBeGreaterThan(0);
      expect(comparedWith.filter((one) => !known.includes(one))).toEqual([]);
    }
    expect(preset.finality.source).toMatch(/^https:\/\/\S+$/);
  });

  test("lists the native coin under the chain's name, USDC, and only feeds in US dollars", () => {
    const native = preset.tokens.filter(({ address }) => address === NATIVE_TOKEN);
    expect(native).toMatchObject([{ symbol: name.toUpperCase(), decimals: 18 }]);
    const decimals = name === "bsc" ? 18 : 6;
    expect(preset.tokens).toContainEqual(expect.objectContaining({ symbol: "USDC", decimals }));
    for (const { feed } of preset.tokens) {
      if (!feed) continue;
      expect(feed.pair).toMatch(/^[A-Z]+ \/ USD$/);
      expect(maxAgeSecondsOf(feed)).toBeLessThanOrEqual(90_000);
      expect(maxAgeSecondsOf(feed)).toBeGreaterThan(feed.heartbeatSeconds ?? 0);
    }
  });
});

test("every coin with a feed has two HTTP price sources, except BNB, which has none", () => {
  const pairs = new Map(
    PRESETS.flatMap(({ tokens }) =>
      tokens.flatMap(({ feed }) => (feed ? [[feed.pair, listMarkets(feed)] as const] : [])),
    ),
  );
  expect([...pairs.keys()].toSorted()).toEqual([
    "AVAX / USD",
    "BNB / USD",
    "ETH / USD",
    "MATIC / USD",
    "USDC / USD",
    "USDT / USD",
  ]);
  for (const [pair, markets] of pairs) {
    expect(markets).toHaveLength(pair === "BNB / USD" ? 0 : 2);
    const hosts = markets.map(({ url }) => new URL(url).host);
    expect(new Set(hosts).size).toBe(markets.length);
    for (const { url, pointer, source } of markets) {
      expect(url).toMatch(/^https:/);
      expect(source).toMatch(/^https:\/\/\S+$/);
      expect(pointer).toMatch(/^(\/\w+)+$/);
      // The request must name the feed's own coin.
      const coin = pair === "MATIC / USD" ? "POL" : pair.split(" ")[0];
      expect(url.toUpperCase()).toContain(`${coin}`);
    }
  }
});

test("CCTP has the same contracts and another domain on every chain, and is absent on BSC", () => {
  const all = MAINS.flatMap(({ name, cctp }) => (cctp ? [{ name, ...cctp }] : []));
  expect(Object.fromEntries(all.map(({ name, domain }) => [name, domain]))).toEqual({
    ethereum: 0,
    avalanche: 1,
    optimism: 2,
    arbitrum: 3,
    base: 6,
    polygon: 7,
    unichain: 10,
    linea: 11,
  });
  expect(new Set(all.map(({ messenger }) => messenger)).size).toBe(1);
  expect(new Set(all.map(({ transmitter }) => transmitter)).size).toBe(1);
});

test("a test network has the domain of its chain, and contracts of its own", () => {
  const mains = new Map(MAINS.map((preset) => [preset.name, preset.cctp]));
  for (const { of, name } of TEST_NETWORKS) {
    const [main, test] = [mains.get(of), findPreset(name)?.cctp];
    expect(test?.domain).toBe(main?.domain);
    expect(test?.messenger).not.toBe(main?.messenger);
  }
});

test("every preset has the bridge chain id and the EVM chain id of its chain", () => {
  const ids = Object.fromEntries(
    PRESETS.map((preset) => {
      const { chainId, evmChainId } = chainOf(preset);
      return [preset.name, [chainId, evmChainId]];
    }),
  );
  expect(ids).toMatchObject({ ethereum: [2, 1], linea: [38, 59144], unichain: [44, 130] });
});
