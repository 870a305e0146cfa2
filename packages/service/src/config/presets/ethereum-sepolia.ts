import { ethereum } from "./ethereum.ts";
import type { Preset } from "./preset.ts";
import { PACKAGES, PAGES, testCctp, testTokens } from "./sources.ts";

/** Terms of the main network, so that a rehearsal meets the same ones, but for the minimum: faucets give little. */
export const ethereumSepolia: Preset = {
  ...ethereum,
  name: "ethereum-sepolia",
  terms: { ...ethereum.terms, minDepositUsd: "1" },
  tokens: testTokens("ethereum-sepolia", {
    chain: "ethereum",
    weth: { address: "0xfFf9976782d46CC05630D1f6eBAb18b2324d6B14", source: PAGES.weth },
    usdc: "0x1c7D4B196Cb0C7B01d743Fbc6116a902379C7238",
    feeds: {
      eth: "0x694AA1769357215DE4FAC081bf1f309aDC325306",
      usdc: "0xA2F78ab2355fe2f984D808B5CeE7FD0A93D5270E",
    },
  }),
  cctp: testCctp(0),
  uniswapV3: {
    router: "0x3bFA4769FB09eefC5a80d6E87c3B9C650f7Ae48E",
    factory: "0x0227628f3F023bb0B980b67D528571c95c6DaC1c",
    weth: "0xfFf9976782d46CC05630D1f6eBAb18b2324d6B14",
    source: "https://docs.uniswap.org/contracts/v3/reference/deployments",
    comparedWith: [PACKAGES.uniswapSdk],
  },
  remarks: [
    "A second feed of ETH / USD, 0xD9d6f482B88C43B256fD481826890dffC8544B13, is listed too.",
  ],
};
