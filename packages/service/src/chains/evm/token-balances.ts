/**
 * Reads token balances at one block, many in one `eth_call`. Each contract is called with its own gas limit and one word of
 * its answer is read, so that none can spoil the others' answers.
 */
import { concat, type Hex } from "viem";
import type { Hex32 } from "../../core/hex.ts";
import type { TokenHolding } from "../port/index.ts";
import { parseBalances } from "./answers.ts";
import { isStateMissing } from "./limits.ts";
import type { Rpc } from "./rpc.ts";

/** This many times the gas limit stays below the limit of nodes. */
const HOLDINGS_AT_ONCE = 50;

/**
 * Creation code that calls `balanceOf` for each appended pair of 20-byte addresses (token, owner) and returns two words per
 * pair: whether the contract returned exactly one word, and that word.
 */
const BALANCE_READER: Hex = concat([
  "0x60516040", // start at the first appended byte, with memory after two scratch words
  "0x5b388210601257", // while bytes are left
  "0x604090036040f3", // return the words
  "0x5b6370a0823160e01b600052", // balanceOf
  "0x60148083016010", // with the owner
  "0x39",
  "0x60148282600c0139", // load the next token as one word
  "0x602081602001602460008451", // write its answer
  "0x62061a80fa", // with 400,000 gas
  "0x3d6020141681", // replace it with whether that is one word
  "0x52",
  "0x60400190602801906004", // advance both offsets
  "0x56",
]);

/**
 * Returns the base units of each holding at exactly this block, in order; null for a token that reverts, runs out of gas or
 * answers in another form. Returns null for all if the node has pruned the block's state. Throws RPC_UNAVAILABLE without a
 * usable answer.
 */
export async function listTokenBalances(
  rpc: Rpc,
  blockHash: Hex32,
  holdings: readonly TokenHolding[],
): Promise<(bigint | null)[] | null> {
  const balances: (bigint | null)[] = [];
  for (let from = 0; from < holdings.length; from += HOLDINGS_AT_ONCE) {
    const some = holdings.slice(from, from + HOLDINGS_AT_ONCE);
    const data = concat([BALANCE_READER, ...some.flatMap(({ token, wallet }) => [token, wallet])]);
    const answer = await rpc.call("eth_call", [{ data }, { blockHash, requireCanonical: true }]);
    if (!answer.ok) {
      if (isStateMissing(answer)) return null;
      throw rpc.refusal("eth_call", answer);
    }
    const words = rpc.read("eth_call", answer.result, parseBalances);
    if (words.length !== 2 * some.length) throw rpc.unavailable("balances missing");
    for (const index of some.keys()) {
      balances.push(words[2 * index] === 1n ? (words[2 * index + 1] ?? null) : null);
    }
  }
  return balances;
}
