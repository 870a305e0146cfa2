/** Suggests gas prices. */
import type { Fees } from "../port/index.ts";
import { parseQuantity } from "./answers.ts";
import { getTaggedBlock } from "./reader.ts";
import type { Rpc } from "./rpc.ts";

/** Tip if the node cannot suggest one: 1 gwei. */
const TIP_WITHOUT_ADVICE = 1_000_000_000n;

/** Returns twice the base fee plus the tip, in wei per gas: enough for six full blocks of rising base fee. */
export async function suggestFees(rpc: Rpc): Promise<Fees> {
  const [block, tip] = await Promise.all([getTaggedBlock(rpc, "latest"), suggestTip(rpc)]);
  if (block.baseFeePerGas === undefined) throw rpc.unavailable("no base fee");
  return { gasPriceMax: block.baseFeePerGas * 2n + tip, tipMax: tip };
}

async function suggestTip(rpc: Rpc): Promise<bigint> {
  const answer = await rpc.call("eth_maxPriorityFeePerGas", []);
  if (answer.ok) return rpc.read("eth_maxPriorityFeePerGas", answer.result, parseQuantity);
  const isUnsupported =
    answer.code === -32601 ||
    answer.code === -32004 ||
    /method.*(not (found|supported|available)|does not exist)/i.test(answer.message);
  if (isUnsupported) return TIP_WITHOUT_ADVICE;
  throw rpc.refusal("eth_maxPriorityFeePerGas", answer);
}
