/**
 * Reads token balances at one block, many in one `eth_call`. Each contract is called with its own gas limit and one word of
 * its answer is read, so that none can spoil the others' answers.
 */
import { concat, type Hex } from "viem";
import type { Hex32 } from "../../core/hex.ts";
import type { TokenHolding } from "../port/index.ts";
import { createBatchSize } from "../rpc/batch-size.ts";
import { reasonOf } from "../rpc/errors.ts";
import { parseBalances } from "./answers.ts";
import { classifyLimit, isStateMissing } from "./limits.ts";
import type { Rpc } from "./rpc.ts";

/** Holdings per request: the code that the call returns may have 24,576 bytes, 64 per holding. */
const HOLDINGS_AT_ONCE = 384;
/** Even contracts that burn all their gas stay below the limit of nodes, so that an error of fewer has other reasons. */
const HOLDINGS_AT_LEAST = 48;

/**
 * Creation code that calls `balanceOf` for each appended pair of 20-byte addresses (token, owner) and returns two words per
 * pair: whether the contract returned exactly one word, and that word. It fails as a whole when less gas is left than a
 * contract may use, so that no balance is missed for lack of gas.
 */
const BALANCE_READER: Hex = concat([
  "0x605c6040", // start at the first appended byte, with memory after two scratch words
  "0x5b388210601257", // while bytes are left
  "0x604090036040f3", // return the words
  "0x5b5a620668a010601d57fe", // fail unless more than 420,000 gas is left
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
 * Reads the base units of each holding at exactly a block, in order; null for a token that reverts, runs out of gas or
 * answers in another form. Returns null for all if the node has pruned the block's state. Throws RPC_UNAVAILABLE without a
 * usable answer.
 */
export type ReadTokenBalances = (
  blockHash: Hex32,
  holdings: readonly TokenHolding[],
) => Promise<(bigint | null)[] | null>;

/** Returns a reader that remembers how many balances the node reads in one request. */
export function createTokenBalanceReader(rpc: Rpc): ReadTokenBalances {
  const size = createBatchSize(HOLDINGS_AT_ONCE);

  async function readPart(
    blockHash: Hex32,
    holdings: readonly TokenHolding[],
  ): Promise<(bigint | null)[] | null> {
    const read = await callReader(rpc, blockHash, holdings).catch((error: unknown) => {
      // The next poll asks for less; to wait here again would take too long.
      if (reasonOf(error) === "timeout") size.refused(holdings.length);
      throw error;
    });
    if (read !== "too many") {
      size.accepted(holdings.length);
      return read;
    }
    size.refused(holdings.length);
    return readAll(blockHash, holdings);
  }

  async function readAll(
    blockHash: Hex32,
    holdings: readonly TokenHolding[],
  ): Promise<(bigint | null)[] | null> {
    const count = Math.max(HOLDINGS_AT_LEAST, size.now());
    const parts: (readonly TokenHolding[])[] = [];
    for (let from = 0; from < holdings.length; from += count) {
      parts.push(holdings.slice(from, from + count));
    }
    const read = await Promise.all(parts.map((part) => readPart(blockHash, part)));
    const known = read.filter((balances) => balances !== null);
    return known.length === read.length ? known.flat() : null;
  }

  return readAll;
}

async function callReader(
  rpc: Rpc,
  blockHash: Hex32,
  holdings: readonly TokenHolding[],
): Promise<(bigint | null)[] | null | "too many"> {
  const data = concat([
    BALANCE_READER,
    ...holdings.flatMap(({ token, wallet }) => [token, wallet]),
  ]);
  const maySplit = holdings.length > HOLDINGS_AT_LEAST;
  let answer;
  try {
    answer = await rpc.call("eth_call", [{ data }, { blockHash, requireCanonical: true }]);
  } catch (error) {
    const isOfSize = ["http 413", "answer too large"].some((reason) => reason === reasonOf(error));
    if (maySplit && isOfSize) return "too many";
    throw error;
  }
  if (!answer.ok) {
    if (isStateMissing(answer)) return null;
    // Limits on gas and code have many wordings; an error that states another reason is not about them.
    if (maySplit && classifyLimit(answer) === null) return "too many";
    throw rpc.refusal("eth_call", answer);
  }
  const words = rpc.read("eth_call", answer.result, parseBalances);
  if (words.length !== 2 * holdings.length) throw rpc.unavailable("balances missing");
  return holdings.map((_, index) =>
    words[2 * index] === 1n ? (words[2 * index + 1] ?? null) : null,
  );
}
