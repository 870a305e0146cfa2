import { base } from "./base.ts";
import type { Preset } from "./preset.ts";
import { PACKAGES, PAGES, testCctp, testTokens } from "./sources.ts";

/** Terms of the main network, so that a rehearsal meets the same ones. */
export const baseSepolia: Preset = {
  ...base,
  name: "base-sepolia",
  finality: {
    ...base.finality,
    rule: "A block is final when it is derived from a final block of Sepolia: about 15 minutes.",
  },
  tokens: testTokens("base-sepolia", {
    chain: "base",
    weth: { address: "0x4200000000000000000000000000000000000006", source: PAGES.predeploys },
    usdc: "0x036CbD53842c5426634e7929541eC2318f3dCF7e",
    feeds: {
      eth: "0x4aDC67696bA383F43DD60A9e78F2C97Fbbfc7cb1",
      usdc: "0xd30e2101a97dcbAeBCBC04F14C3f624E67A35165",
    },
  }),
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
