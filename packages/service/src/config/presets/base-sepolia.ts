import { base } from "./base.ts";
import type { Preset } from "./preset.ts";
import { chainlinkFeed, nativeCoin, PACKAGES, PAGES, testCctp, testUsdc } from "./sources.ts";

const ETH = chainlinkFeed("base-sepolia", {
  address: "0x4aDC67696bA383F43DD60A9e78F2C97Fbbfc7cb1",
  pair: "ETH / USD",
  heartbeatSeconds: null,
});

/** Terms of the main network, so that a rehearsal meets the same ones. */
export const baseSepolia: Preset = {
  ...base,
  name: "base-sepolia",
  finality: {
    ...base.finality,
    rule: "A block is final when it is derived from a final block of Sepolia: about 15 minutes.",
  },
  tokens: [
    nativeCoin("base", { minDeposit: "0.0005", feed: ETH }),
    {
      symbol: "WETH",
      address: "0x4200000000000000000000000000000000000006",
      decimals: 18,
      minDeposit: "0.0005",
      source: PAGES.predeploys,
      comparedWith: [PACKAGES.uniswapSdk],
      feed: ETH,
    },
    testUsdc(
      "0x036CbD53842c5426634e7929541eC2318f3dCF7e",
      chainlinkFeed("base-sepolia", {
        address: "0xd30e2101a97dcbAeBCBC04F14C3f624E67A35165",
        pair: "USDC / USD",
        heartbeatSeconds: null,
      }),
    ),
  ],
  cctp: testCctp(6),
  uniswapV3: {
    router: "0x94cC0AaC535CCDB3C01d6787D6413C739ae12bc4",
    factory: "0x4752ba5DBc23f44D87826276BF6Fd6b1C372aD24",
    weth: "0x4200000000000000000000000000000000000006",
    source: "https://docs.uniswap.org/contracts/v3/reference/deployments",
    comparedWith: [PACKAGES.uniswapSdk],
  },
  remarks: [],
};
