/** Classifies a node's refusal of a signed transaction. Nodes share no error codes, only similar messages. */
import type { SendOutcome } from "../port/index.ts";

/**
 * The first matching pattern decides. Messages of geth, erigon, nethermind, besu, reth and anvil. An unlisted one is
 * `unknown`: the transaction may have been accepted.
 */
const OUTCOMES: readonly (readonly [RegExp, SendOutcome])[] = [
  [/already known|already imported|alreadyknown|\bknown transaction|tx with same hash/i, "known"],
  [/nonce( is)? too low|oldnonce/i, "nonce_too_low"],
  [/underpriced|could not replace existing tx|replacementnotallowed/i, "underpriced"],
  [/(fee|cap|per gas) (too low|less than block base fee)|feetoolow/i, "underpriced"],
  [/gas price below configured minimum/i, "underpriced"],
  [/insufficient ?funds|upfront cost exceeds|enough funds/i, "insufficient_funds"],
];

/** Returns the outcome of a refusal by the node's message. */
export function classifyRefusal(message: string): SendOutcome {
  return OUTCOMES.find(([pattern]) => pattern.test(message))?.[1] ?? "unknown";
}
