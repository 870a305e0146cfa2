/** Pages and packages that the presets cite, and the parts that several chains share. */
import type { PresetCctp, PresetFeed, PresetToken } from "./preset.ts";

/** Packages of npm, at the versions with which values were compared. They are no dependencies, except viem. */
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
  /** The predeployed contracts of the OP Stack. */
  predeploys: "https://specs.optimism.io/protocol/predeploys.html",
} as const;

export const NATIVE_ADDRESS = "0x0000000000000000000000000000000000000000";

/** The native coin: it has no contract, and the interface calls it by its chain's name. */
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
 * A Chainlink feed. Heartbeats are those of https://github.com/LZeroAnalytics/chainlink-package, of March 2025, which has
 * five of the chains. `network` is the name under which Chainlink's own list has it.
 */
export function chainlinkFeed(
  network: string,
  feed: Pick<PresetFeed, "address" | "pair" | "otherPair" | "heartbeatSeconds"> & {
    /** Further packages that name it, beside Chainlink's own. */
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
 * The contracts of CCTP version 2 stand at one address on every EVM chain. Circle's own package has them; the domains,
 * except Linea's, are in Wormhole's as well.
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
