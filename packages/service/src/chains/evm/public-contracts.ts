/** The views of other people's contracts with which the doctor sees whether they are what the configuration takes them for. */
import { parseAbi } from "viem";

/** https://docs.chain.link/data-feeds/api-reference */
export const feedDescriptionAbi = parseAbi(["function description() view returns (string)"]);

/** `TokenMessengerV2` and `MessageTransmitterV2`. https://github.com/circlefin/evm-cctp-contracts */
export const cctpAbi = parseAbi([
  "function localMessageTransmitter() view returns (address)",
  "function localDomain() view returns (uint32)",
]);

/** `PeripheryImmutableState`, which every router and quoter of Uniswap v3 has. https://github.com/Uniswap/v3-periphery */
export const swapRouterAbi = parseAbi([
  "function factory() view returns (address)",
  "function WETH9() view returns (address)",
]);

/** `UniswapV3Factory`. https://github.com/Uniswap/v3-core */
export const poolsAbi = parseAbi([
  "function getPool(address tokenA, address tokenB, uint24 fee) view returns (address)",
]);
