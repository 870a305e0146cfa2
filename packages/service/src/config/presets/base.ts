import type { Preset } from "./preset.ts";
import { cctp, chainlinkFeed, nativeCoin, PACKAGES, PAGES } from "./sources.ts";

export const base: Preset = {
  name: "base",
  finality: {
    rule: "A block is final when it is derived from a final block of Ethereum: about 15 minutes.",
    seconds: 900,
    isInstant: false,
    source: "https://docs.base.org/base-chain/network-information/transaction-finality",
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
    nativeCoin("base", {
      minDeposit: "0.0005",
      feed: chainlinkFeed("base", {
        address: "0x71041dddad3595F9CEd3DcCFBe3D1F4b0a16Bb70",
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
      feed: chainlinkFeed("base", {
        address: "0x71041dddad3595F9CEd3DcCFBe3D1F4b0a16Bb70",
        pair: "ETH / USD",
        heartbeatSeconds: 1200,
        also: [PACKAGES.aave],
      }),
    },
    {
      symbol: "USDC",
      address: "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913",
      decimals: 6,
      minDeposit: "1",
      source: PAGES.usdc,
      comparedWith: [PACKAGES.circle, PACKAGES.wormhole, PACKAGES.uniswapTokens, PACKAGES.aave],
      feed: chainlinkFeed("base", {
        address: "0x7e860098F58bBFC8648a4311b374B1D669a2bc6B",
        pair: "USDC / USD",
        heartbeatSeconds: 86400,
        also: [PACKAGES.enzyme],
      }),
    },
    {
      symbol: "USDT",
      address: "0xfde4C96c8593536E31F229EA8f37b2ADa2699bb2",
      decimals: 6,
      minDeposit: "1",
      source: "https://basescan.org/token/0xfde4C96c8593536E31F229EA8f37b2ADa2699bb2",
      comparedWith: [PACKAGES.wormhole, PACKAGES.enzyme],
      feed: chainlinkFeed("base", {
        address: "0xf19d560eB8d2ADf07BD6D13ed03e1D11215721F9",
        pair: "USDT / USD",
        heartbeatSeconds: 86400,
        also: [PACKAGES.enzyme],
      }),
    },
  ],
  cctp: cctp(6),
  uniswapV3: {
    router: "0x2626664c2603336E57B271c5C0b26F421741e481",
    factory: "0x33128a8fC17869897dcE68Ed026d694621f6FDfD",
    weth: "0x4200000000000000000000000000000000000006",
    source: "https://docs.uniswap.org/contracts/v3/reference/deployments/base-deployments",
    comparedWith: [PACKAGES.uniswapSdk],
  },
  remarks: ["USDT is bridged by the chain's own bridge: Tether does not issue here."],
};
