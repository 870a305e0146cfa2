import type { Preset } from "./preset.ts";
import { cctp, chainlinkFeed, nativeCoin, PACKAGES, PAGES } from "./sources.ts";

export const optimism: Preset = {
  name: "optimism",
  finality: {
    rule: "A block is final when it is derived from a final block of Ethereum: about 15 minutes.",
    seconds: 900,
    isInstant: false,
    source: "https://docs.optimism.io/concepts/transactions/transaction-finality",
  },
  blockSeconds: 2,
  terms: {
    minDepositUsd: "1",
    deliveryConfirmations: 5,
    pollIntervalMs: 1000,
    gasPriceMaxGwei: "50",
  },
  early: {
    reason:
      "One sequencer orders the blocks. It replaces them only after a failure of its own, or of what it reads from Ethereum.",
    tiers: [
      { after: 2, upToUsd: "200" },
      { after: 10, upToUsd: "2000" },
    ],
  },
  tokens: [
    nativeCoin("optimism", {
      minDeposit: "0.0005",
      feed: chainlinkFeed("optimism", {
        address: "0x13e3Ee699D1909E989722E753853AE30b17e08c5",
        pair: "ETH / USD",
        heartbeatSeconds: 1200,
        also: [PACKAGES.aave],
      }),
    }),
    {
      symbol: "WETH",
      address: "0x4200000000000000000000000000000000000006",
      decimals: 18,
      minDeposit: "0.0005",
      source: PAGES.predeploys,
      comparedWith: [PACKAGES.uniswapSdk, PACKAGES.uniswapTokens, PACKAGES.aave],
      feed: chainlinkFeed("optimism", {
        address: "0x13e3Ee699D1909E989722E753853AE30b17e08c5",
        pair: "ETH / USD",
        heartbeatSeconds: 1200,
        also: [PACKAGES.aave],
      }),
    },
    {
      symbol: "USDC",
      address: "0x0b2C639c533813f4Aa9D7837CAf62653d097Ff85",
      decimals: 6,
      minDeposit: "1",
      source: PAGES.usdc,
      comparedWith: [PACKAGES.circle, PACKAGES.wormhole, PACKAGES.uniswapTokens, PACKAGES.aave],
      feed: chainlinkFeed("optimism", {
        address: "0x16a9FA2FDa030272Ce99B29CF780dFA30361E0f3",
        pair: "USDC / USD",
        heartbeatSeconds: 86400,
      }),
    },
    {
      symbol: "USDT",
      address: "0x94b008aA00579c1307B0EF2c499aD98a8ce58e58",
      decimals: 6,
      minDeposit: "1",
      source: "https://optimistic.etherscan.io/token/0x94b008aA00579c1307B0EF2c499aD98a8ce58e58",
      comparedWith: [PACKAGES.wormhole, PACKAGES.uniswapTokens, PACKAGES.aave],
      feed: chainlinkFeed("optimism", {
        address: "0xECef79E109e997bCA29c1c0897ec9d7b03647F5E",
        pair: "USDT / USD",
        heartbeatSeconds: 86400,
      }),
    },
    {
      symbol: "USDT0",
      symbolOnChain: "USD₮0",
      address: "0x01bFF41798a0BcF287b996046Ca68b395DbC1071",
      decimals: 6,
      minDeposit: "1",
      source: PAGES.usdt0,
      comparedWith: [PACKAGES.uniswapTokens],
      feed: chainlinkFeed("optimism", {
        address: "0xECef79E109e997bCA29c1c0897ec9d7b03647F5E",
        pair: "USDT / USD",
        heartbeatSeconds: 86400,
      }),
    },
  ],
  cctp: cctp(2),
  uniswapV3: {
    router: "0x68b3465833fb72A70ecDF485E0e4C7bD8665Fc45",
    factory: "0x1F98431c8aD98523631AE4a59f267346ea31F984",
    weth: "0x4200000000000000000000000000000000000006",
    source: "https://docs.uniswap.org/contracts/v3/reference/deployments",
    comparedWith: [PACKAGES.uniswapSdk],
  },
  remarks: [
    "The `symbol()` of USDT0 was not compared with a package.",
    "USDT is the older one, bridged by the chain's own bridge; USDT0 is a newer, different token.",
    "The feeds of USDC and USDT are only in Chainlink's own package.",
  ],
};
