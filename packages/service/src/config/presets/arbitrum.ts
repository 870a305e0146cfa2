import type { Preset } from "./preset.ts";
import { cctp, chainlinkFeed, nativeCoin, PACKAGES, PAGES } from "./sources.ts";

export const arbitrum: Preset = {
  name: "arbitrum",
  finality: {
    rule: "A block is final when its batch is in a final block of Ethereum: about 20 minutes.",
    seconds: 1200,
    isInstant: false,
    source: "https://docs.arbitrum.io/how-arbitrum-works/transaction-lifecycle",
  },
  blockSeconds: 0.25,
  terms: {
    minDepositUsd: "1",
    deliveryConfirmations: 20,
    pollIntervalMs: 500,
    gasPriceMaxGwei: "50",
  },
  early: {
    reason:
      "One sequencer orders the blocks. It replaces them only after a failure of its own, or of what it reads from Ethereum.",
    tiers: [
      { after: 4, upToUsd: "200" },
      { after: 40, upToUsd: "2000" },
    ],
  },
  tokens: [
    nativeCoin("arbitrum", {
      minDeposit: "0.0005",
      feed: chainlinkFeed("arbitrum", {
        address: "0x639Fe6ab55C921f74e7fac1ee960C0B6293ba612",
        pair: "ETH / USD",
        heartbeatSeconds: 86400,
        also: [PACKAGES.aave],
      }),
    }),
    {
      symbol: "WETH",
      address: "0x82aF49447D8a07e3bd95BD0d56f35241523fBab1",
      decimals: 18,
      minDeposit: "0.0005",
      source: "https://docs.arbitrum.io/build-decentralized-apps/reference/contract-addresses",
      comparedWith: [PACKAGES.uniswapSdk, PACKAGES.uniswapTokens, PACKAGES.aave],
      feed: chainlinkFeed("arbitrum", {
        address: "0x639Fe6ab55C921f74e7fac1ee960C0B6293ba612",
        pair: "ETH / USD",
        heartbeatSeconds: 86400,
        also: [PACKAGES.aave],
      }),
    },
    {
      symbol: "USDC",
      address: "0xaf88d065e77c8cC2239327C5EDb3A432268e5831",
      decimals: 6,
      minDeposit: "1",
      source: PAGES.usdc,
      comparedWith: [PACKAGES.circle, PACKAGES.wormhole, PACKAGES.uniswapTokens, PACKAGES.aave],
      feed: chainlinkFeed("arbitrum", {
        address: "0x50834F3163758fcC1Df9973b6e91f0F0F0434aD3",
        pair: "USDC / USD",
        heartbeatSeconds: 86400,
        also: [PACKAGES.enzyme],
      }),
    },
    {
      symbol: "USDT",
      symbolOnChain: "USD₮0",
      address: "0xFd086bC7CD5C481DCC9C85ebE478A1C0b69FCbb9",
      decimals: 6,
      minDeposit: "1",
      source: PAGES.usdt0,
      comparedWith: [PACKAGES.wormhole, PACKAGES.uniswapTokens, PACKAGES.aave],
      feed: chainlinkFeed("arbitrum", {
        address: "0x3f3f5dF88dC9F13eac63DF89EC16ef6e7E25DdE7",
        pair: "USDT / USD",
        heartbeatSeconds: 86400,
        also: [PACKAGES.enzyme],
      }),
    },
  ],
  cctp: cctp(3),
  uniswapV3: {
    router: "0x68b3465833fb72A70ecDF485E0e4C7bD8665Fc45",
    factory: "0x1F98431c8aD98523631AE4a59f267346ea31F984",
    weth: "0x82aF49447D8a07e3bd95BD0d56f35241523fBab1",
    source: "https://docs.uniswap.org/contracts/v3/reference/deployments",
    comparedWith: [PACKAGES.uniswapSdk],
  },
  remarks: [
    "Contracts see about the height of Ethereum as `block.number`. Circle's `TokenMessengerV2` compares the `expirationBlock` of a Fast Transfer with it, so the relay reads it from the chain. The value that Circle's service writes for Arbitrum could not be compared.",
    "The data for layer 1 is part of the gas that a node estimates (`gasEstimateForL1`), so it counts for the balance of a lane.",
  ],
};
