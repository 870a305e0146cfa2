/** Views of third-party contracts with which the doctor verifies configured addresses. */
import { parseAbi } from "viem";

/** https://docs.chain.link/data-feeds/api-reference */
export const feedDescriptionAbi = parseAbi(["function description() view returns (string)"]);

/** `TokenMessengerV2` and `MessageTransmitterV2`. https://github.com/circlefin/evm-cctp-contracts */
export const cctpAbi = parseAbi([
  "function localMessageTransmitter() view returns (address)",
  "function localDomain() view returns (uint32)",
]);

/** `PeripheryImmutableState`, inherited by every Uniswap v3 router and quoter. https://github.com/Uniswap/v3-periphery */
export const swapRouterAbi = parseAbi([
  "function factory() view returns (address)",
  "function WETH9() view returns (address)",
]);

/** `UniswapV3Factory`. https://github.com/Uniswap/v3-core */
export const poolsAbi = parseAbi([
  "function getPool(address tokenA, address tokenB, uint24 fee) view returns (address)",
]);
