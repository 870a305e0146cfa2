import type { Preset } from "./preset.ts";
import { cctp, chainlinkFeed, nativeCoin, PACKAGES, PAGES } from "./sources.ts";

export const avalanche: Preset = {
  name: "avalanche",
  finality: {
    rule: "Every block is final when it is accepted.",
    seconds: 2,
    isInstant: true,
    source: "https://build.avax.network/docs/primary-network/avalanche-consensus",
  },
  blockSeconds: 1.5,
  terms: {
    minDepositUsd: "1",
    deliveryConfirmations: 1,
    pollIntervalMs: 1500,
    gasPriceMaxGwei: "300",
  },
  tokens: [
    nativeCoin("avalanche", {
      minDeposit: "0.05",
      feed: chainlinkFeed("avalanche", {
        address: "0x0A77230d17318075983913bC2145DB16C7366156",
        pair: "AVAX / USD",
        heartbeatSeconds: null,
        also: [PACKAGES.aave],
      }),
    }),
    {
      symbol: "WAVAX",
      address: "0xB31f66AA3C1e785363F0875A1B74E27b85FD66c7",
      decimals: 18,
      minDeposit: "0.05",
      source: "https://snowtrace.io/token/0xB31f66AA3C1e785363F0875A1B74E27b85FD66c7",
      comparedWith: [PACKAGES.uniswapSdk, PACKAGES.uniswapTokens, PACKAGES.aave],
      feed: chainlinkFeed("avalanche", {
        address: "0x0A77230d17318075983913bC2145DB16C7366156",
        pair: "AVAX / USD",
        heartbeatSeconds: null,
        also: [PACKAGES.aave],
      }),
    },
    {
      symbol: "USDC",
      address: "0xB97EF9Ef8734C71904D8002F8b6Bc66Dd9c48a6E",
      decimals: 6,
      minDeposit: "1",
      source: PAGES.usdc,
      comparedWith: [PACKAGES.circle, PACKAGES.wormhole, PACKAGES.uniswapTokens, PACKAGES.aave],
      feed: chainlinkFeed("avalanche", {
        address: "0xF096872672F44d6EBA71458D74fe67F9a77a23B9",
        pair: "USDC / USD",
        heartbeatSeconds: null,
      }),
    },
    {
      symbol: "USDT",
      symbolOnChain: "USDt",
      address: "0x9702230A8Ea53601f5cD2dc00fDBc13d4dF4A8c7",
      decimals: 6,
      minDeposit: "1",
      source: PAGES.usdt,
      comparedWith: [PACKAGES.circle, PACKAGES.wormhole, PACKAGES.uniswapTokens, PACKAGES.aave],
      feed: chainlinkFeed("avalanche", {
        address: "0xEBE676ee90Fe1112671f19b6B7459bC678B67e8a",
        pair: "USDT / USD",
        heartbeatSeconds: null,
      }),
    },
    {
      symbol: "WETH",
      symbolOnChain: "WETH.e",
      address: "0x49D5c2BdFfac6CE2BFdB6640F4F80f226bc10bAB",
      decimals: 18,
      minDeposit: "0.0005",
      source: "https://snowtrace.io/token/0x49D5c2BdFfac6CE2BFdB6640F4F80f226bc10bAB",
      comparedWith: [PACKAGES.uniswapTokens, PACKAGES.aave],
      feed: chainlinkFeed("avalanche", {
        address: "0x976B3D034E162d8bD72D6b9C989d545b839003b0",
        pair: "ETH / USD",
        heartbeatSeconds: null,
        also: [PACKAGES.aave],
      }),
    },
  ],
  cctp: cctp(1),
  uniswapV3: {
    router: "0xbb00FF08d01D300023C629E8fFfFcb65A5a578cE",
    factory: "0x740b1c1de25031C31FF4fC9A62f554A55cdC1baD",
    weth: "0xB31f66AA3C1e785363F0875A1B74E27b85FD66c7",
    source: "https://docs.uniswap.org/contracts/v3/reference/deployments",
    comparedWith: [PACKAGES.uniswapSdk],
  },
  remarks: [
    "The heartbeats of the feeds were not compared with a package.",
    "The feeds of USDC and USDT are only in Chainlink's own package.",
  ],
};
