/**
 * Price feeds of the `AggregatorV3Interface` form: `decimals()` and `latestRoundData()`.
 * https://docs.chain.link/data-feeds/api-reference
 */
import { parseAbi } from "viem";
import { decodeFunctionResult, encodeFunctionData } from "./abi.ts";
import type { EvmAddress } from "../../core/hex.ts";
import type { ReadPoint } from "../port/index.ts";
import { readView } from "./calls.ts";
import type { Rpc } from "./rpc.ts";

const feedAbi = parseAbi([
  "function decimals() view returns (uint8)",
  "function latestRoundData() view returns (uint80 roundId, int256 answer, uint256 startedAt, uint256 updatedAt, uint80 answeredInRound)",
]);

const SCALE_DECIMALS = 18;
/** Far above any real feed; bounds the powers of ten. */
const DECIMALS_MAX = 36;

/** Returns the newest answer times 1e18, and its publication time. Throws RPC_UNAVAILABLE if the address is not such a feed. */
export async function readPriceFeed(
  rpc: Rpc,
  feed: EvmAddress,
  at: ReadPoint,
): Promise<{ readonly usd: bigint; readonly publishedAtMs: number }> {
  const [decimals, round] = await Promise.all([
    readView(
      rpc,
      {
        to: feed,
        at,
        data: encodeFunctionData({ abi: feedAbi, functionName: "decimals" }),
      },
      (data) => decodeFunctionResult({ abi: feedAbi, functionName: "decimals", data }),
    ),
    readView(
      rpc,
      {
        to: feed,
        at,
        data: encodeFunctionData({ abi: feedAbi, functionName: "latestRoundData" }),
      },
      (data) => decodeFunctionResult({ abi: feedAbi, functionName: "latestRoundData", data }),
    ),
  ]);
  if (decimals > DECIMALS_MAX) throw rpc.unavailable("a feed with too many decimals");
  const [, answer, , updatedAt] = round;
  const usd = (answer * 10n ** BigInt(SCALE_DECIMALS)) / 10n ** BigInt(decimals);
  const seconds = updatedAt > MILLENNIUM_S ? MILLENNIUM_S : updatedAt;
  return { usd, publishedAtMs: Number(seconds) * 1000 };
}

/** The year 5138: later times are invalid and would lose precision as a number. */
const MILLENNIUM_S = 100_000_000_000n;
