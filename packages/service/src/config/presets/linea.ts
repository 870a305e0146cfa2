import type { Preset } from "./preset.ts";
import { cctp, chainlinkFeed, nativeCoin, PACKAGES, PAGES } from "./sources.ts";

export const linea: Preset = {
  name: "linea",
  finality: {
    rule: "A block is final when its proof is in a final block of Ethereum: hours.",
    seconds: 14400,
    isInstant: false,
    source: "https://docs.linea.build/network/overview/transaction-finality",
  },
  blockSeconds: 2,
  terms: {
    minDepositUsd: "1",
    deliveryConfirmations: 5,
    pollIntervalMs: 1000,
    gasPriceMaxGwei: "100",
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
    nativeCoin("linea", {
      minDeposit: "0.0005",
      feed: chainlinkFeed("linea", {
        address: "0x3c6Cd9Cc7c7a4c2Cf5a82734CD249D7D593354dA",
        pair: "ETH / USD",
        heartbeatSeconds: 86400,
        also: [PACKAGES.aave],
      }),
    }),
    {
      symbol: "WETH",
      address: "0xe5D7C2a44FfDDf6b295A15c148167daaAf5Cf34f",
      decimals: 18,
      minDeposit: "0.0005",
      source: "https://lineascan.build/token/0xe5D7C2a44FfDDf6b295A15c148167daaAf5Cf34f",
      comparedWith: [PACKAGES.uniswapSdk, PACKAGES.aave],
      feed: chainlinkFeed("linea", {
        address: "0x3c6Cd9Cc7c7a4c2Cf5a82734CD249D7D593354dA",
        pair: "ETH / USD",
        heartbeatSeconds: 86400,
        also: [PACKAGES.aave],
      }),
    },
    {
      symbol: "USDC",
      address: "0x176211869cA2b568f2A7D4EE941E073a821EE1ff",
      decimals: 6,
      minDeposit: "1",
      source: PAGES.usdc,
      comparedWith: [PACKAGES.circle, PACKAGES.wormhole, PACKAGES.aave],
      feed: chainlinkFeed("linea", {
        address: "0xAADAa473C1bDF7317ec07c915680Af29DeBfdCb5",
        pair: "USDC / USD",
        heartbeatSeconds: 86400,
      }),
    },
    {
      symbol: "USDT",
      address: "0xA219439258ca9da29E9Cc4cE5596924745e12B93",
      decimals: 6,
      minDeposit: "1",
      source: "https://lineascan.build/token/0xA219439258ca9da29E9Cc4cE5596924745e12B93",
      comparedWith: [PACKAGES.aave],
      feed: chainlinkFeed("linea", {
        address: "0xefCA2bbe0EdD0E22b2e0d2F8248E99F4bEf4A7dB",
        pair: "USDT / USD",
        heartbeatSeconds: 86400,
      }),
    },
  ],
  cctp: cctp(11),
  uniswapV3: {
    router: "0x3d4e44Eb1374240CE5F1B871ab261CD16335B76a",
    factory: "0x31FAfd4889FA1269F7a13A66eE0fB458f27D72A9",
    weth: "0xe5D7C2a44FfDDf6b295A15c148167daaAf5Cf34f",
    source: "https://github.com/Uniswap/sdks/blob/main/sdks/sdk-core/src/addresses.ts",
    comparedWith: [PACKAGES.uniswapSdk],
  },
  remarks: [
    "Uniswap's pages do not list this chain; its SDK does.",
    "Finality takes hours: payouts from inventory, which wait for it, may exceed `payoutWindowSeconds`.",
    "Public nodes support the finalized tag for every method but `eth_call` (https://docs.linea.build/network/how-to/finalized-block): `sluice doctor` shows whether yours does.",
    "The feeds of USDC and USDT are only in Chainlink's own package, USDT itself in only one package.",
  ],
};
