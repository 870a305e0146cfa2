/** What a node's refusal of a signed transaction means. Nodes agree on no codes, only roughly on words. */
import type { SendOutcome } from "../port/index.ts";

/**
 * In order: the first pattern that matches decides. Words of geth, erigon, nethermind, besu, reth and anvil. What is
 * not listed is `unknown`: the transaction may have been accepted all the same.
 */
const OUTCOMES: readonly (readonly [RegExp, SendOutcome])[] = [
  [/already known|already imported|alreadyknown|\bknown transaction|tx with same hash/i, "known"],
  [/nonce( is)? too low|oldnonce/i, "nonce_too_low"],
  [/underpriced|could not replace existing tx|replacementnotallowed/i, "underpriced"],
  [/(fee|cap|per gas) (too low|less than block base fee)|feetoolow/i, "underpriced"],
  [/gas price below configured minimum/i, "underpriced"],
  [/insufficient ?funds|upfront cost exceeds|enough funds/i, "insufficient_funds"],
];

/** The outcome of a refusal by the node's own words. */
export function classifyRefusal(message: string): SendOutcome {
  return OUTCOMES.find(([pattern]) => pattern.test(message))?.[1] ?? "unknown";
}
