/** Classifies a node's errors by the table of known limits. */
import type { NodeError } from "../rpc/json-rpc.ts";
import { isRateError } from "../rpc/rate-errors.ts";
import { MISSING } from "./missing-data.ts";
import { type KnownLimit, type LimitKind, LOG_LIMITS } from "./provider-limits.ts";

/** Every known error. The first that matches counts. */
export const KNOWN_LIMITS: readonly KnownLimit[] = [...LOG_LIMITS, ...MISSING];

/** Characters of `data` that are searched. */
const DATA_MAX = 1_000;

export interface Limit {
  readonly kind: LimitKind | "rate_limited";
  /** The number of blocks that the text of a limit on ranges or results allows, if it names one. */
  readonly blocks?: bigint;
}

/** Returns the entry for an error, or undefined. The text of a revert is the contract's, not the node's. */
export function findLimit(error: NodeError): KnownLimit | undefined {
  const said = textOf(error);
  if (error.code === 3 || /revert/i.test(said)) return undefined;
  return KNOWN_LIMITS.find(
    ({ code, text }) => (code === undefined || code === error.code) && text.test(said),
  );
}

/** Returns the message with the members of `data`, where some providers put their reason. Text in `data` is a revert's. */
function textOf({ message, data }: NodeError): string {
  if (typeof data !== "object" || data === null) return message;
  return `${message} ${JSON.stringify(data).slice(0, DATA_MAX)}`;
}

/** Returns the meaning of an error, or null for an unknown one. */
export function classifyLimit(error: NodeError): Limit | null {
  const known = findLimit(error);
  if (!known) return isRateError(error) ? { kind: "rate_limited" } : null;
  const blocks = readBlocks(known, textOf(error));
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
