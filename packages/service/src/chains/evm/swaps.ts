/**
 * Quotes a Uniswap v3 pool, for which `QuoterV2` runs the swap and reverts it, and reads the limits of a route's contract.
 * https://docs.uniswap.org/contracts/v3/reference/periphery/lens/QuoterV2
 */
import { swapRouteAbi } from "@sluice/contracts/abi";
import { parseAbi } from "viem";
import { decodeFunctionResult, encodeFunctionData } from "./abi.ts";
import { toEvmAddress } from "../../core/hex.ts";
import type { LimitedSwap, PoolSwapQuestion, ReadPoint, SwapLimits } from "../port/index.ts";
import { findInView, readView } from "./calls.ts";
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

/** Returns the limits of a route's contract, which all kinds of pool swaps share. */
export async function readSwapLimits(
  rpc: Rpc,
  { route, token, amountIn }: LimitedSwap,
  at: ReadPoint,
): Promise<SwapLimits> {
  const abi = swapRouteAbi;
  const to = toEvmAddress(route);
  const band = { abi, functionName: "bandMinOut", args: [amountIn] } as const;
  const cap = { abi, functionName: "capLeft", args: [toEvmAddress(token)] } as const;
  const [least, capLeft] = await Promise.all([
    // The pool reverts with `OLD` while its history is shorter than the window.
    findInView(rpc, { to, data: encodeFunctionData(band), at }, (data) =>
      decodeFunctionResult({ abi, functionName: "bandMinOut", data }),
    ),
    readView(rpc, { to, data: encodeFunctionData(cap), at }, (data) =>
      decodeFunctionResult({ abi, functionName: "capLeft", data }),
    ),
  ]);
  return { least, capLeft };
}
