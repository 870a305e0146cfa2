/**
 * What a pool of Uniswap v3 would give now: `QuoterV2` runs the swap and takes it back.
 * https://docs.uniswap.org/contracts/v3/reference/periphery/lens/QuoterV2
 */
import { decodeFunctionResult, encodeFunctionData, parseAbi } from "viem";
import { toEvmAddress } from "../../core/hex.ts";
import type { ReadPoint, PoolSwapQuestion } from "../port/index.ts";
import { findInView } from "./calls.ts";
import type { Rpc } from "./rpc.ts";

const quoterAbi = parseAbi([
  "struct Question { address tokenIn; address tokenOut; uint256 amountIn; uint24 fee; uint160 sqrtPriceLimitX96; }",
  // It changes nothing that lasts, so it is asked as a view.
  "function quoteExactInputSingle(Question params) view returns (uint256 amountOut, uint160 sqrtPriceX96After, uint32 initializedTicksCrossed, uint256 gasEstimate)",
]);

/** A swap through many thin ranges takes more than a view does, and more than this no lane would send. */
const QUOTE_GAS_MAX = 4_000_000n;

/** Base units that would come out; null when the quoter reverts or answers nonsense, as it does where there is no pool. */
export function quoteSwap(rpc: Rpc, swap: PoolSwapQuestion, at: ReadPoint): Promise<bigint | null> {
  const { poolFee: fee, amountIn } = swap;
  const quoter = toEvmAddress(swap.quoter);
  const tokenIn = toEvmAddress(swap.tokenIn);
  const tokenOut = toEvmAddress(swap.tokenOut);
  const question = { tokenIn, tokenOut, amountIn, fee, sqrtPriceLimitX96: 0n };
  const functionName = "quoteExactInputSingle";
  const data = encodeFunctionData({ abi: quoterAbi, functionName, args: [question] });
  return findInView(rpc, { to: quoter, data, at, gas: QUOTE_GAS_MAX }, (returned) => {
    const [amountOut] = decodeFunctionResult({ abi: quoterAbi, functionName, data: returned });
    return amountOut;
  });
}
