/** Classifies a node's errors by the table of known limits. */
import type { NodeError } from "../rpc/json-rpc.ts";
import { isRateError } from "../rpc/rate-errors.ts";
import { KNOWN_LIMITS, type KnownLimit, type LimitKind } from "./provider-limits.ts";

export interface Limit {
  readonly kind: LimitKind | "rate_limited";
  /** The number of blocks that the text of a limit on ranges or results allows, if it names one. */
  readonly blocks?: bigint;
}

/** Returns the entry for an error, or undefined. The text of a revert is the contract's, not the node's. */
export function findLimit({ code, message }: NodeError): KnownLimit | undefined {
  if (code === 3 || /revert/i.test(message)) return undefined;
  return KNOWN_LIMITS.find(
    (known) => (known.code === undefined || known.code === code) && known.text.test(message),
  );
}

/** Returns the meaning of an error, or null for an unknown one. */
export function classifyLimit(error: NodeError): Limit | null {
  const known = findLimit(error);
  if (!known) return isRateError(error) ? { kind: "rate_limited" } : null;
  const blocks = readBlocks(known, error.message);
  return { kind: known.kind, ...(blocks !== undefined && { blocks }) };
}

/** Returns the number of blocks that a text states, if it is at least one. */
function readBlocks({ text, states }: KnownLimit, message: string): bigint | undefined {
  const [, first, last] = text.exec(message) ?? [];
  if (first === undefined) return undefined;
  const blocks =
    states === "blocks"
      ? BigInt(first.replaceAll(",", ""))
      : BigInt(last ?? first) - BigInt(first) + 1n;
  return blocks >= 1n ? blocks : undefined;
}

const REASONS: Readonly<Record<Limit["kind"], string>> = {
  range_too_wide: "range too wide",
  too_many_results: "too many results",
  answer_too_large: "answer too large",
  rate_limited: "rate limited",
  unsupported_method: "method not supported",
  unknown_block: "block not found",
  pruned_state: "state pruned",
};

/** Returns a short reason of ours for a known error. */
export function reasonOfLimit(error: NodeError): string | undefined {
  const limit = classifyLimit(error);
  return limit ? REASONS[limit.kind] : undefined;
}

/** Returns whether a node reports that it has pruned a block's state. */
export function isStateMissing(error: NodeError): boolean {
  return findLimit(error)?.kind === "pruned_state";
}
