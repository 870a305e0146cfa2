import type { Preset } from "./preset.ts";
import { cctp, chainlinkFeed, nativeCoin, PACKAGES, PAGES } from "./sources.ts";

export const polygon: Preset = {
  name: "polygon",
  finality: {
    rule: "Milestones of the validators (PIP-11): a few seconds.",
    seconds: 5,
    isInstant: false,
    source:
      "https://github.com/maticnetwork/Polygon-Improvement-Proposals/blob/main/PIPs/PIP-11.md",
  },
  blockSeconds: 2,
  terms: {
    minDepositUsd: "1",
    deliveryConfirmations: 16,
    pollIntervalMs: 2000,
    gasPriceMaxGwei: "5000",
  },
  tokens: [
    nativeCoin("polygon", {
      minDeposit: "3",
      feed: chainlinkFeed("polygon", {
        address: "0xAB594600376Ec9fD91F8e885dADF0CE036862dE0",
        pair: "MATIC / USD",
        otherPair: "POL / USD",
        heartbeatSeconds: null,
        also: [PACKAGES.aave, PACKAGES.enzyme],
      }),
    }),
    {
      symbol: "WPOL",
      address: "0x0d500B1d8E8eF31E21C99d1Db9A6444d3ADf1270",
      decimals: 18,
      minDeposit: "3",
      source: "https://polygonscan.com/token/0x0d500B1d8E8eF31E21C99d1Db9A6444d3ADf1270",
      comparedWith: [PACKAGES.uniswapSdk, PACKAGES.uniswapTokens, PACKAGES.aave],
      feed: chainlinkFeed("polygon", {
        address: "0xAB594600376Ec9fD91F8e885dADF0CE036862dE0",
        pair: "MATIC / USD",
        otherPair: "POL / USD",
        heartbeatSeconds: null,
        also: [PACKAGES.aave, PACKAGES.enzyme],
      }),
    },
    {
      symbol: "USDC",
      address: "0x3c499c542cEF5E3811e1192ce70d8cC03d5c3359",
      decimals: 6,
      minDeposit: "1",
      source: PAGES.usdc,
      comparedWith: [PACKAGES.circle, PACKAGES.wormhole, PACKAGES.uniswapTokens, PACKAGES.aave],
      feed: chainlinkFeed("polygon", {
        address: "0xfE4A8cc5b5B2366C1B58Bea3858e81843581b2F7",
        pair: "USDC / USD",
        heartbeatSeconds: null,
        also: [PACKAGES.enzyme],
      }),
    },
    {
      symbol: "USDT",
      symbolOnChain: "USDT0",
      address: "0xc2132D05D31c914a87C6611C10748AEb04B58e8F",
      decimals: 6,
      minDeposit: "1",
      source: PAGES.usdt0,
      comparedWith: [PACKAGES.wormhole, PACKAGES.uniswapTokens, PACKAGES.aave],
      feed: chainlinkFeed("polygon", {
        address: "0x0A6513e40db6EB1b165753AD52E80663aeA50545",
        pair: "USDT / USD",
        heartbeatSeconds: null,
        also: [PACKAGES.enzyme],
      }),
    },
    {
      symbol: "WETH",
      address: "0x7ceB23fD6bC0adD59E62ac25578270cFf1b9f619",
      decimals: 18,
      minDeposit: "0.0005",
      source: "https://polygonscan.com/token/0x7ceB23fD6bC0adD59E62ac25578270cFf1b9f619",
      comparedWith: [PACKAGES.uniswapTokens, PACKAGES.aave],
      feed: chainlinkFeed("polygon", {
        address: "0xF9680D99D6C9589e2a93a78A04A279e509205945",
        pair: "ETH / USD",
        heartbeatSeconds: null,
        also: [PACKAGES.aave],
      }),
    },
  ],
  cctp: cctp(7),
  uniswapV3: {
    router: "0x68b3465833fb72A70ecDF485E0e4C7bD8665Fc45",
    factory: "0x1F98431c8aD98523631AE4a59f267346ea31F984",
    weth: "0x0d500B1d8E8eF31E21C99d1Db9A6444d3ADf1270",
    source: "https://docs.uniswap.org/contracts/v3/reference/deployments",
    comparedWith: [PACKAGES.uniswapSdk],
  },
  remarks: [
    "The feed of the native coin is still listed as MATIC / USD; its description may be POL / USD by now.",
    "USDT became USDT0 at its old address; only the Aave package has the `symbol()` of its contract.",
    "The heartbeats of the feeds were not compared with a package.",
  ],
};
