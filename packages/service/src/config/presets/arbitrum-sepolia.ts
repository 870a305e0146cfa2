import { arbitrum } from "./arbitrum.ts";
import type { Preset } from "./preset.ts";
import { PACKAGES, PAGES, testCctp, testTokens } from "./sources.ts";

/** Terms of the main network, so that a rehearsal meets the same ones. */
export const arbitrumSepolia: Preset = {
  ...arbitrum,
  name: "arbitrum-sepolia",
  finality: {
    ...arbitrum.finality,
    rule: "A block is final when its batch is in a final block of Sepolia: about 20 minutes.",
  },
  tokens: testTokens("arbitrum-sepolia", {
    chain: "arbitrum",
    weth: { address: "0x980B62Da83eFf3D4576C647993b0c1D7faf17c73", source: PAGES.weth },
    usdc: "0x75faf114eafb1BDbe2F0316DF893fd58CE46AA4d",
    feeds: {
      eth: "0xd30e2101a97dcbAeBCBC04F14C3f624E67A35165",
      usdc: "0x0153002d20B96532C639313c2d54c3dA09109309",
    },
  }),
  cctp: testCctp(3),
  uniswapV3: {
    router: "0x101F443B4d1b059569D643917553c771E1b9663E",
    factory: "0x248AB79Bbb9bC29bB72f7Cd42F17e054Fc40188e",
    weth: "0x980B62Da83eFf3D4576C647993b0c1D7faf17c73",
    source: "https://docs.uniswap.org/contracts/v3/reference/deployments",
    comparedWith: [PACKAGES.uniswapSdk],
  },
  remarks: [
    "A second feed of ETH / USD, 0x1C352C8C42eF40F9951C5a251cb1cb0492Ec0e52, is listed too.",
  ],
};
