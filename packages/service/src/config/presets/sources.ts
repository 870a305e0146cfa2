/** Pages and packages that the presets cite, and parts that several presets share. */
import type { PresetCctp, PresetFeed, PresetToken } from "./preset.ts";

/** npm packages, at the versions with which values were compared. Only viem is a dependency. */
export const PACKAGES = {
  circle: "@circle-fin/provider-cctp-v2 1.14.0",
  wormhole: "@wormhole-foundation/sdk-base 6.1.5",
  uniswapTokens: "@uniswap/default-token-list 22.21.0",
  uniswapSdk: "@uniswap/sdk-core 7.19.4",
  aave: "@bgd-labs/aave-address-book 4.44.22",
  enzyme: "@enzymefinance/environment 6.3.61",
  chainlink: "@chainlink/mcp-server 0.0.1-alpha.17",
  viem: "viem 2.57.1",
} as const;

export const PAGES = {
  usdc: "https://developers.circle.com/stablecoins/usdc-contract-addresses",
  cctp: "https://developers.circle.com/cctp/references/contract-addresses",
  usdt: "https://tether.to/en/supported-protocols/",
  usdt0: "https://docs.usdt0.to/technical-documentation/developer",
  nativeCoins: "https://github.com/ethereum-lists/chains",
  weth: "https://docs.uniswap.org/contracts/v3/reference/deployments",
  /** The predeployed contracts of the OP Stack. */
  predeploys: "https://specs.optimism.io/protocol/predeploys.html",
} as const;

export const NATIVE_ADDRESS = "0x0000000000000000000000000000000000000000";

/** Creates the native coin, which has no contract and whose symbol is its chain's name. */
export function nativeCoin(
  chain: string,
  token: Pick<PresetToken, "minDeposit" | "feed">,
): PresetToken {
  return {
    symbol: chain.toUpperCase(),
    address: NATIVE_ADDRESS,
    decimals: 18,
    source: PAGES.nativeCoins,
    comparedWith: [PACKAGES.viem],
    ...token,
  };
}

/**
 * Creates a Chainlink feed. Heartbeats are from https://github.com/LZeroAnalytics/chainlink-package of March 2025,
 * which covers five of the chains. `network` is the chain's name in Chainlink's list.
 */
export function chainlinkFeed(
  network: string,
  feed: Pick<PresetFeed, "address" | "pair" | "otherPair" | "heartbeatSeconds"> & {
    /** Packages with the feed, in addition to Chainlink's. */
    readonly also?: readonly string[];
  },
): PresetFeed {
  const { also = [], ...facts } = feed;
  return {
    ...facts,
    source: `https://docs.chain.link/data-feeds/price-feeds/addresses?network=${network}`,
    comparedWith: [PACKAGES.chainlink, ...also],
  };
}

/**
 * Returns the CCTP version 2 contracts, which have the same addresses on every EVM chain. Circle's package has them;
 * the domains, except Linea's, are also in Wormhole's.
 */
export function cctp(domain: number): PresetCctp {
  return {
    domain,
    messenger: "0x28b5a0e9C621a5BadaA536219b3a228C8168cf5d",
    transmitter: "0x81D40F21F12A8F0E3252Bccb954D722d4c464B64",
    source: PAGES.cctp,
    comparedWith: [PACKAGES.circle],
  };
}

/** Returns the CCTP version 2 contracts of test networks, which have the same addresses on each, and the domain of the main network. */
export function testCctp(domain: number): PresetCctp {
  return {
    ...cctp(domain),
    messenger: "0x8FE6B999Dc680CcFDD5Bf7EB0974218be2542DAA",
    transmitter: "0xE737e5cEBEEBa77EFE34D4aa090756590b1CE275",
  };
}

/** Returns the tokens of a test network whose coin is ether: the coin, WETH, and the USDC of Circle's faucet. */
export function testTokens(
  network: string,
  {
    chain,
    weth,
    usdc,
    feeds,
  }: {
    /** Name of the chain whose place the network takes. */
    readonly chain: string;
    readonly weth: Pick<PresetToken, "address" | "source">;
    /** Address. */
    readonly usdc: string;
    /** Addresses of the feeds in US dollars. */
    readonly feeds: { readonly eth: string; readonly usdc: string };
  },
): readonly PresetToken[] {
  // No heartbeat of a test network could be compared.
  const feed = (coin: string, address: string) =>
    chainlinkFeed(network, { address, pair: `${coin} / USD`, heartbeatSeconds: null });
  const eth = { minDeposit: "0.0005", feed: feed("ETH", feeds.eth) };
  return [
    nativeCoin(chain, eth),
    { symbol: "WETH", decimals: 18, ...weth, comparedWith: [PACKAGES.uniswapSdk], ...eth },
    {
      symbol: "USDC",
      address: usdc,
      decimals: 6,
      minDeposit: "1",
      source: PAGES.usdc,
      comparedWith: [PACKAGES.circle, PACKAGES.wormhole],
      feed: feed("USDC", feeds.usdc),
    },
  ];
}
