/**
 * Quotes a Uniswap v3 pool: `QuoterV2` runs the swap and reverts it.
 * https://docs.uniswap.org/contracts/v3/reference/periphery/lens/QuoterV2
 */
import { decodeFunctionResult, encodeFunctionData, parseAbi } from "viem";
import { toEvmAddress } from "../../core/hex.ts";
import type { ReadPoint, PoolSwapQuestion } from "../port/index.ts";
import { findInView } from "./calls.ts";
import type { Rpc } from "./rpc.ts";

const quoterAbi = parseAbi([
  "struct Question { address tokenIn; address tokenOut; uint256 amountIn; uint24 fee; uint160 sqrtPriceLimitX96; }",
  // Declared as a view, because it leaves no state.
  "function quoteExactInputSingle(Question params) view returns (uint256 amountOut, uint160 sqrtPriceX96After, uint32 initializedTicksCrossed, uint256 gasEstimate)",
]);

/** Gas limit of a quote: a swap across many thin ranges exceeds a plain view's limit, and no lane would send more than this. */
const QUOTE_GAS_MAX = 4_000_000n;

/** Returns the output in base units; null if the quoter reverts or answers in another form, as without a pool. */
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
