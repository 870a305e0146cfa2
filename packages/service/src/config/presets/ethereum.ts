import type { Preset } from "./preset.ts";
import { cctp, chainlinkFeed, nativeCoin, PACKAGES, PAGES } from "./sources.ts";

export const ethereum: Preset = {
  name: "ethereum",
  finality: {
    rule: "Two epochs of votes: about 13 minutes.",
    seconds: 780,
    isInstant: false,
    source: "https://ethereum.org/en/developers/docs/consensus-mechanisms/pos/#finality",
  },
  blockSeconds: 12,
  terms: {
    minDepositUsd: "10",
    deliveryConfirmations: 3,
    pollIntervalMs: 4000,
    gasPriceMaxGwei: "500",
  },
  early: {
    reason: "Blocks are replaced now and then, mostly one deep.",
    tiers: [
      { after: 3, upToUsd: "100" },
      { after: 12, upToUsd: "1000" },
    ],
  },
  tokens: [
    nativeCoin("ethereum", {
      minDeposit: "0.004",
      feed: chainlinkFeed("ethereum", {
        address: "0x5f4eC3Df9cbd43714FE2740f5E3616155c5b8419",
        pair: "ETH / USD",
        heartbeatSeconds: 3600,
      }),
    }),
    {
      symbol: "WETH",
      address: "0xC02aaA39b223FE8D0A0e5C4F27eAD9083C756Cc2",
      decimals: 18,
      minDeposit: "0.004",
      source: "https://etherscan.io/token/0xC02aaA39b223FE8D0A0e5C4F27eAD9083C756Cc2",
      comparedWith: [PACKAGES.uniswapSdk, PACKAGES.uniswapTokens, PACKAGES.aave],
      feed: chainlinkFeed("ethereum", {
        address: "0x5f4eC3Df9cbd43714FE2740f5E3616155c5b8419",
        pair: "ETH / USD",
        heartbeatSeconds: 3600,
      }),
    },
    {
      symbol: "USDC",
      address: "0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48",
      decimals: 6,
      minDeposit: "10",
      source: PAGES.usdc,
      comparedWith: [PACKAGES.circle, PACKAGES.wormhole, PACKAGES.uniswapTokens, PACKAGES.aave],
      feed: chainlinkFeed("ethereum", {
        address: "0x8fFfFfd4AfB6115b954Bd326cbe7B4BA576818f6",
        pair: "USDC / USD",
        heartbeatSeconds: 86400,
        also: [PACKAGES.enzyme],
      }),
    },
    {
      symbol: "USDT",
      address: "0xdAC17F958D2ee523a2206206994597C13D831ec7",
      decimals: 6,
      minDeposit: "10",
      source: PAGES.usdt,
      comparedWith: [PACKAGES.wormhole, PACKAGES.uniswapTokens, PACKAGES.aave],
      feed: chainlinkFeed("ethereum", {
        address: "0x3E7d1eAB13ad0104d2750B8863b489D65364e32D",
        pair: "USDT / USD",
        heartbeatSeconds: 86400,
        also: [PACKAGES.enzyme],
      }),
    },
  ],
  cctp: cctp(0),
  uniswapV3: {
    router: "0x68b3465833fb72A70ecDF485E0e4C7bD8665Fc45",
    factory: "0x1F98431c8aD98523631AE4a59f267346ea31F984",
    weth: "0xC02aaA39b223FE8D0A0e5C4F27eAD9083C756Cc2",
    source: "https://docs.uniswap.org/contracts/v3/reference/deployments",
    comparedWith: [PACKAGES.uniswapSdk],
  },
  remarks: ["The feed of ETH / USD is only in Chainlink's own package."],
};
