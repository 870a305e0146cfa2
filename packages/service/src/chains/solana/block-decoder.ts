/**
 * Decodes answers with blocks, which have megabytes. A decoded block is a fraction of its text, so that a worker can
 * decode it and pass it on.
 */
import { createHash } from "node:crypto";
import { type Packed, unpackNow } from "../rpc/packed.ts";
import { type BlockAnswer, parseBlock } from "./block-answer.ts";

/** A block and its digest, by which the answers of nodes are compared. */
export interface ReadBlock {
  readonly block: BlockAnswer;
  readonly digest: string;
}

/**
 * Decodes the body of an answer to `getBlock`: the answer as `JSON.parse` gives it, with the block's text replaced. Throws
 * `UnusableBody`, or another error if the body is not JSON.
 */
export type DecodeBlock = (slot: bigint, body: Packed) => unknown;

/** The result of a decoded answer: the block, or the reason why it is none. */
type Decoded =
  | ({ readonly kind: "block" } & ReadBlock)
  | { readonly kind: "malformed"; readonly reason: string };

/** Decodes in this thread. */
export const decodeBlock: DecodeBlock = (slot, body) => {
  const answer: unknown = JSON.parse(unpackNow(body).toString("utf8"));
  if (typeof answer !== "object" || answer === null) return answer;
  if (!("result" in answer) || answer.result === null) return answer;
  return { ...answer, result: readResult(slot, answer.result) };
};

/** Returns the block of a decoded answer. Throws `TypeError` if it was malformed. */
export function expectRead(result: unknown): ReadBlock {
  // CAST: `decodeBlock` replaces every result.
  const decoded = result as Decoded;
  if (decoded.kind === "malformed") throw new TypeError(decoded.reason);
  return { block: decoded.block, digest: decoded.digest };
}

function readResult(slot: bigint, result: unknown): Decoded {
  try {
    const block = parseBlock(slot, result);
    return { kind: "block", block, digest: digestOf(block) };
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    return { kind: "malformed", reason: error.message };
  }
}

/** Returns the digest of a block. Equal digests are equal blocks, wherever they were read. */
export function digestOf({ transactions, ...head }: BlockAnswer): string {
  const place = Object.entries(head).map(([name, value]) => `${name}=${value}`);
  const lines = transactions.map(({ index, signature, feePayer, signers, hasMemo, sol, tokens }) =>
    [
      [index, signature, feePayer, hasMemo],
      signers,
      sol.map(({ account, change }) => `${account}:${change}`),
      tokens.map(({ owner, mint, change }) => `${owner}:${mint}:${change}`),
    ].join(";"),
  );
  return createHash("sha256")
    .update([...place, ...lines].join("\n"))
    .digest("hex");
}
