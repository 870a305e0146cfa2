/**
 * Balances of tokens at exactly one block, many in one `eth_call`. Every contract is asked under a gas limit of its own
 * and one word of its answer is looked at, so that none of them can spoil the answer of the others.
 */
import { concat, type Hex } from "viem";
import type { Hex32 } from "../../core/hex.ts";
import type { TokenHolding } from "../port/index.ts";
import { parseBalances } from "./answers.ts";
import { isStateMissing } from "./errors.ts";
import type { Rpc } from "./rpc.ts";

/** So many times the gas limit stays under what nodes allow a call. */
const HOLDINGS_AT_ONCE = 50;

/**
 * Creation code that asks for the balance of each pair of 20-byte addresses appended to it, token and owner, and returns
 * two words for each: whether the contract answered with one word, and that word.
 */
const BALANCE_READER: Hex = concat([
  "0x60516040", // from the first appended byte, into memory behind two words of scratch
  "0x5b388210601257", // while there are bytes left
  "0x604090036040f3", // return what was written
  "0x5b6370a0823160e01b600052", // balanceOf
  "0x60148083016010", // of the owner
  "0x39",
  "0x60148282600c0139", // the next token, as one word
  "0x602081602001602460008451", // gives its answer
  "0x62061a80fa", // with 400,000 gas
  "0x3d6020141681", // and gives way to whether that is one word
  "0x52",
  "0x60400190602801906004", // the next of both
  "0x56",
]);

/**
 * Base units of each holding at exactly this block, in order; null where the token's contract reverts, burns its gas or
 * answers nonsense. Null for all when the node no longer has the state of the block; throws RPC_UNAVAILABLE when it
 * gives no usable answer.
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
      throw rpc.unavailable(`node error ${answer.code}`, `eth_call: ${answer.message}`);
    }
    const words = rpc.read("eth_call", answer.result, parseBalances);
    if (words.length !== 2 * some.length) throw rpc.unavailable("balances missing");
    for (const index of some.keys()) {
      balances.push(words[2 * index] === 1n ? (words[2 * index + 1] ?? null) : null);
    }
  }
  return balances;
}
