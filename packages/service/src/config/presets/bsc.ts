import type { Preset } from "./preset.ts";
import { chainlinkFeed, nativeCoin, PACKAGES } from "./sources.ts";

export const bsc: Preset = {
  name: "bsc",
  finality: {
    rule: "Votes of the validators on two blocks (BEP-126): a few seconds; without them, depth.",
    seconds: 5,
    isInstant: false,
    source: "https://docs.bnbchain.org/bnb-smart-chain/developers/json_rpc/bsc-api-list/",
  },
  blockSeconds: 0.75,
  terms: {
    minDepositUsd: "1",
    deliveryConfirmations: 15,
    pollIntervalMs: 500,
    gasPriceMaxGwei: "50",
  },
  tokens: [
    nativeCoin("bsc", {
      minDeposit: "0.002",
      feed: chainlinkFeed("bnb-chain", {
        address: "0x0567F2323251f0Aab15c8dFb1967E4e8A7D42aeE",
        pair: "BNB / USD",
        heartbeatSeconds: null,
        also: [PACKAGES.aave],
      }),
    }),
    {
      symbol: "WBNB",
      address: "0xbb4CdB9CBd36B01bD1cBaEBF2De08d9173bc095c",
      decimals: 18,
      minDeposit: "0.002",
      source: "https://bscscan.com/token/0xbb4CdB9CBd36B01bD1cBaEBF2De08d9173bc095c",
      comparedWith: [PACKAGES.uniswapSdk, PACKAGES.uniswapTokens, PACKAGES.aave],
      feed: chainlinkFeed("bnb-chain", {
        address: "0x0567F2323251f0Aab15c8dFb1967E4e8A7D42aeE",
        pair: "BNB / USD",
        heartbeatSeconds: null,
        also: [PACKAGES.aave],
      }),
    },
    {
      symbol: "USDC",
      address: "0x8AC76a51cc950d9822D68b83fE1Ad97B32Cd580d",
      decimals: 18,
      minDeposit: "1",
      source: "https://bscscan.com/token/0x8AC76a51cc950d9822D68b83fE1Ad97B32Cd580d",
      comparedWith: [PACKAGES.uniswapTokens, PACKAGES.aave],
      feed: chainlinkFeed("bnb-chain", {
        address: "0x51597f405303C4377E36123cBc172b13269EA163",
        pair: "USDC / USD",
        heartbeatSeconds: null,
      }),
    },
    {
      symbol: "USDT",
      address: "0x55d398326f99059fF775485246999027B3197955",
      decimals: 18,
      minDeposit: "1",
      source: "https://bscscan.com/token/0x55d398326f99059fF775485246999027B3197955",
      comparedWith: [PACKAGES.wormhole, PACKAGES.uniswapTokens, PACKAGES.aave],
      feed: chainlinkFeed("bnb-chain", {
        address: "0xB97Ad0E74fa7d920791E90258A6E2085088b4320",
        pair: "USDT / USD",
        heartbeatSeconds: null,
      }),
    },
    {
      symbol: "WETH",
      symbolOnChain: "ETH",
      address: "0x2170Ed0880ac9A755fd29B2688956BD959F933F8",
      decimals: 18,
      minDeposit: "0.0005",
      source: "https://bscscan.com/token/0x2170Ed0880ac9A755fd29B2688956BD959F933F8",
      comparedWith: [PACKAGES.uniswapTokens, PACKAGES.aave],
      feed: chainlinkFeed("bnb-chain", {
        address: "0x9ef1B8c0E4F7dc8bF5719Ea496883DC6401d5b2e",
        pair: "ETH / USD",
        heartbeatSeconds: null,
        also: [PACKAGES.aave],
      }),
    },
  ],

  uniswapV3: {
    router: "0xB971eF87ede563556b2ED4b1C0b0019111Dd85d2",
    factory: "0xdB1d10011AD0Ff90774D0C6Bb92e5C5c8b4461F7",
    weth: "0xbb4CdB9CBd36B01bD1cBaEBF2De08d9173bc095c",
    source: "https://docs.uniswap.org/contracts/v3/reference/deployments",
    comparedWith: [PACKAGES.uniswapSdk],
  },
  remarks: [
    "USDC, USDT and WETH are pegged by Binance, with 18 decimals: neither Circle nor Tether issues here, and CCTP does not support this USDC.",
    "No exchange's price of BNB in dollars is known for certain: the native coin and WBNB have only their feed, which `price.independent` refuses until you set `price`.",
    "The heartbeats of the feeds were not compared with a package.",
    "The feeds of USDC and USDT are only in Chainlink's own package.",
  ],
};
