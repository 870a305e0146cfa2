/**
 * The form of a provider's refusal: HTTP status, error code and text, in that provider's own words. The tables beside this
 * file quote answers of providers and nodes, each entry with its source.
 */

/** The reason of a refusal. It decides the client's next step: ask for less, wait, ask another node, or give up. */
export const REFUSAL_KINDS = [
  "range", // more blocks than one request may cover
  "results", // more logs than one answer may hold
  "size", // more bytes than one answer may have
  "timeout", // the query took too long; a smaller one may not
  "rate", // too many requests per second
  "quota", // the day's or the month's requests are spent
  "batch", // too many requests in one batch
  "method", // the method does not exist here, or not on this plan
  "address", // logs are served for named addresses only
  "behind", // the replica does not have the block yet
  "pruned", // the node no longer has the state or the block
  "skipped", // Solana: the slot has no block
  "unavailable", // the provider has no node at the moment
] as const;

export type RefusalKind = (typeof REFUSAL_KINDS)[number];

/** The numbers and texts that a message names, by placeholder. */
export type RefusalValues = Readonly<Record<string, string | number>>;

export interface Refusal {
  readonly id: string;
  readonly kind: RefusalKind;
  /** The HTTP status; 200 where the source does not state it. */
  readonly status: number;
  /** The JSON-RPC error code; null for a body that is not JSON-RPC. */
  readonly code: number | null;
  /** The text, with placeholders in braces. */
  readonly message: string;
  /** Further members of the error object as JSON text with placeholders, for example `data`. */
  readonly members?: string;
  /** Whether the body is the bare error object, without `jsonrpc` and `id`. */
  readonly bare?: true;
  /** Values with which the message is the text of the source, to the letter. */
  readonly sample: RefusalValues;
  readonly source: string;
}

/** The error object of a refusal in a JSON-RPC response. */
export interface RefusalError {
  readonly code: number;
  readonly message: string;
  readonly [member: string]: unknown;
}

/** Returns the text of a refusal. Throws for a placeholder without a value. */
export function renderMessage(refusal: Refusal, values: RefusalValues): string {
  return fill(refusal, refusal.message, values);
}

/** Returns the error object of a refusal. Throws for a placeholder without a value. */
export function renderError(refusal: Refusal, values: RefusalValues): RefusalError {
  const members: object =
    refusal.members === undefined ? {} : JSON.parse(fill(refusal, refusal.members, values));
  return { code: refusal.code ?? 0, message: renderMessage(refusal, values), ...members };
}

function fill({ id }: Refusal, text: string, values: RefusalValues): string {
  return text.replace(/\{([a-zA-Z]+)\}/g, (_, name: string) => {
    const value = values[name];
    if (value === undefined) throw new Error(`refusal ${id}: no value for {${name}}`);
    return String(value);
  });
}
