import type { Preset } from "./preset.ts";
import { cctp, nativeCoin, PACKAGES, PAGES } from "./sources.ts";

export const unichain: Preset = {
  name: "unichain",
  finality: {
    rule: "A block is final when it is derived from a final block of Ethereum: about 15 minutes.",
    seconds: 900,
    isInstant: false,
    source: "https://docs.optimism.io/concepts/transactions/transaction-finality",
  },
  blockSeconds: 1,
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
      { after: 20, upToUsd: "2000" },
    ],
  },
  tokens: [
    nativeCoin("unichain", { minDeposit: "0.0005" }),
    {
      symbol: "WETH",
      address: "0x4200000000000000000000000000000000000006",
      decimals: 18,
      minDeposit: "0.0005",
      source: PAGES.predeploys,
      comparedWith: [PACKAGES.uniswapSdk, PACKAGES.uniswapTokens],
    },
    {
      symbol: "USDC",
      address: "0x078D782b760474a361dDA0AF3839290b0EF57AD6",
      decimals: 6,
      minDeposit: "1",
      source: PAGES.usdc,
      comparedWith: [PACKAGES.circle, PACKAGES.wormhole, PACKAGES.uniswapTokens],
    },
    {
      symbol: "USDT",
      symbolOnChain: "USD₮0",
      address: "0x9151434b16b9763660705744891fA906F660EcC5",
      decimals: 6,
      minDeposit: "1",
      source: PAGES.usdt0,
      comparedWith: [PACKAGES.wormhole, PACKAGES.uniswapTokens],
    },
  ],
  cctp: cctp(10),
  uniswapV3: {
    router: "0x73855d06DE49d0fe4A9c42636Ba96c62da12FF9C",
    factory: "0x1F98400000000000000000000000000000000003",
    weth: "0x4200000000000000000000000000000000000006",
    source: "https://docs.uniswap.org/contracts/v3/reference/deployments/unichain-deployments",
    comparedWith: [PACKAGES.uniswapSdk],
  },
  remarks: [
    "The `symbol()` of USDT was not compared with a package.",
    "No price feed is known for certain, so no token has a price: the minimum in dollars has no effect until you set `price`.",
  ],
};
