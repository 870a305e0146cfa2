/** Parses the queries of the lists. */
import {
  DEPOSIT_CURSOR_PATTERN,
  DEPOSIT_FINALITY_STATES,
  type DepositFinalityState,
  EVENT_TYPES,
  EVENTS_LIMIT_DEFAULT,
  EVENTS_LIMIT_MAX,
  EXPORT_FORMATS,
  EXTENDED_EVENT_TYPES,
  type ExtendedEventType,
  LIST_LIMIT_DEFAULT,
  LIST_LIMIT_MAX,
  REFUND_STATES,
  type RefundState,
  SETTLEMENT_STATUS_NAMES,
  type SettlementStatus,
  UUID_PATTERN,
} from "@sluice/sdk/wire";
import type { AddressFilter } from "../addresses/index.ts";
import type { AddressFormat } from "../chains/port/index.ts";
import { parseSolanaTxHash } from "../core/base58.ts";
import { type Address, toTxHash, type TxHash } from "../core/hex.ts";
import { parseUserId } from "../core/user-id.ts";
import type { DepositCursor, DepositFilter } from "../deposits/index.ts";
import type { SwapFilter } from "../settlements/index.ts";
import { OperatingError } from "../core/errors.ts";
import { parseStamp, type Rounding } from "./stamp-input.ts";

type RawQuery = Readonly<Record<string, unknown>>;

/** Page of a newest-first list. @throws OperatingError VALIDATION_ERROR naming the parameter. */
export function parseListQuery(query: RawQuery): {
  readonly limit: number;
  readonly cursor: string | undefined;
} {
  return {
    limit: parseLimit(query, LIST_LIMIT_DEFAULT, LIST_LIMIT_MAX),
    // Strictly older than a fraction of a millisecond includes that millisecond.
    cursor: parseStampParam(query, "cursor", "up"),
  };
}

/**
 * Returns page and filters of the deposit addresses.
 * @throws OperatingError VALIDATION_ERROR naming the parameter.
 */
export function parseAddressesQuery(
  query: RawQuery,
  format: AddressFormat,
): ReturnType<typeof parseListQuery> & { readonly filter: AddressFilter } {
  return {
    ...parseListQuery(query),
    filter: {
      wallet: parseWallet(query, format),
      userId: parseUserIdParam(query),
      destChain: parseChainId(query, "destChain"),
      destToken: parseToken(query, format, "destToken"),
      ...parseRange(query),
    },
  };
}

/**
 * Returns page and filters of a list of settlements.
 * @throws OperatingError VALIDATION_ERROR naming the parameter.
 */
export function parseSwapsQuery(
  query: RawQuery,
  format: AddressFormat,
): ReturnType<typeof parseListQuery> & { readonly filter: SwapFilter } {
  return {
    ...parseListQuery(query),
    filter: {
      status: parseStatus(query),
      wallet: parseWallet(query, format),
      userId: parseUserIdParam(query),
      chainId: parseChainId(query),
      token: parseToken(query, format),
      txHash: parseTxHash(query),
      ...parseRange(query),
    },
  };
}

/**
 * Returns the bounds of a list by time: at or after `from`, before `to`.
 * @throws OperatingError VALIDATION_ERROR naming the parameter.
 */
export function parseRange(query: RawQuery) {
  // A fraction of a millisecond excludes that millisecond at the beginning, and includes it at the end.
  return { from: parseStampParam(query, "from", "up"), to: parseStampParam(query, "to", "up") };
}

/**
 * Returns page and filters of a list of deposits.
 * @throws OperatingError VALIDATION_ERROR naming the parameter.
 */
export function parseDepositsQuery(query: RawQuery, format: AddressFormat) {
  const filter: DepositFilter = {
    wallet: parseWallet(query, format),
    chainId: parseChainId(query),
    txHash: parseTxHash(query),
    userId: parseUserIdParam(query),
    token: parseToken(query, format),
    settlementId: parseSettlementId(query),
    queued:
      query["queued"] === undefined ? undefined : parseFlag(single(query, "queued"), "queued"),
    finality: parseFinality(query),
    ...parseRange(query),
  };
  return {
    limit: parseLimit(query, LIST_LIMIT_DEFAULT, LIST_LIMIT_MAX),
    cursor: parseDepositCursor(query),
    filter,
  };
}

/** Returns page and filters of the refunds. @throws OperatingError VALIDATION_ERROR naming the parameter. */
export function parseRefundsQuery(query: RawQuery, format: AddressFormat) {
  const cursor = parseDepositCursor(query);
  return {
    limit: parseLimit(query, LIST_LIMIT_DEFAULT, LIST_LIMIT_MAX),
    cursor: cursor && { at: cursor.detectedAt, id: cursor.id },
    filter: {
      wallet: parseWallet(query, format),
      chainId: parseChainId(query),
      userId: parseUserIdParam(query),
      token: parseToken(query, format),
      state: parseRefundState(query),
      ...parseRange(query),
    },
  };
}

/** Returns format and range of an export. @throws OperatingError VALIDATION_ERROR naming the parameter. */
export function parseExportQuery(query: RawQuery) {
  const text = single(query, "format") ?? "jsonl";
  const format = EXPORT_FORMATS.find((known) => known === text);
  if (format) return { format, ...parseRange(query) };
  throw invalid("format", EXPORT_FORMATS.join(" or "));
}

/** Returns the id in a path; null if no object can have it. */
export function parseId(text: unknown): string | null {
  const isId = typeof text === "string" && new RegExp(UUID_PATTERN).test(text);
  return isId ? text.toLowerCase() : null;
}

/**
 * Returns the page of a replay.
 * @throws OperatingError VALIDATION_ERROR naming the parameter.
 */
export function parseEventsQuery(
  query: RawQuery,
  format: AddressFormat,
): {
  readonly limit: number;
  readonly since: string | undefined;
  readonly type: ExtendedEventType | undefined;
  /** As it is displayed. */
  readonly walletAddress: string | undefined;
  /** As it is displayed. */
  readonly tokenAddress: string | undefined;
  readonly userId: string | undefined;
  readonly until: string | undefined;
  readonly extended: boolean;
} {
  const wallet = parseWallet(query, format);
  const token = parseToken(query, format);
  const extended = parseFlag(single(query, "extended"), "extended");
  return {
    limit: parseLimit(query, EVENTS_LIMIT_DEFAULT, EVENTS_LIMIT_MAX),
    since: parseStampParam(query, "since", "down"),
    type: parseType(query, extended),
    walletAddress: wallet && format.display(wallet),
    tokenAddress: token && format.display(token),
    userId: parseUserIdParam(query),
    until: parseStampParam(query, "until", "down"),
    extended,
  };
}

/**
 * Returns whether a flag is set; not set if it is absent.
 * @throws OperatingError VALIDATION_ERROR naming it.
 */
export function parseFlag(value: unknown, name: string): boolean {
  if (value === undefined || value === false || value === "false") return false;
  if (value === true || value === "true") return true;
  throw invalid(name, "true or false");
}

function parseLimit(query: RawQuery, fallback: number, max: number): number {
  const text = single(query, "limit");
  if (text === undefined) return fallback;
  const limit = /^\d{1,9}$/.test(text) ? Number(text) : 0;
  if (limit >= 1 && limit <= max) return limit;
  throw invalid("limit", `a whole number from 1 to ${max}`);
}

function parseStampParam(query: RawQuery, name: string, rounding: Rounding): string | undefined {
  const text = single(query, name);
  if (text === undefined) return undefined;
  const stamp = parseStamp(text, rounding);
  if (stamp !== undefined) return stamp;
  throw invalid(name, "a calendar date and time of ISO 8601, such as 2026-01-31T12:00:00.000Z");
}

function parseType(query: RawQuery, extended: boolean): ExtendedEventType | undefined {
  const text = single(query, "type");
  if (text === undefined) return undefined;
  const types = extended ? EXTENDED_EVENT_TYPES : EVENT_TYPES;
  const type = types.find((known) => known === text);
  if (type) return type;
  throw invalid("type", types.join(" or "));
}

function parseStatus(query: RawQuery): SettlementStatus | undefined {
  const text = single(query, "status");
  if (text === undefined) return undefined;
  const status = SETTLEMENT_STATUS_NAMES.find((known) => known === text);
  if (status) return status;
  throw invalid("status", `one of ${SETTLEMENT_STATUS_NAMES.join(", ")}`);
}

function parseRefundState(query: RawQuery): RefundState | undefined {
  const text = single(query, "state");
  if (text === undefined) return undefined;
  const state = REFUND_STATES.find((known) => known === text);
  if (state) return state;
  throw invalid("state", `one of ${REFUND_STATES.join(", ")}`);
}

function parseFinality(query: RawQuery): DepositFinalityState | undefined {
  const text = single(query, "finality");
  if (text === undefined) return undefined;
  const state = DEPOSIT_FINALITY_STATES.find((known) => known === text);
  if (state) return state;
  throw invalid("finality", `one of ${DEPOSIT_FINALITY_STATES.join(", ")}`);
}

function parseWallet(query: RawQuery, format: AddressFormat): Address | undefined {
  const text = single(query, "walletAddress");
  if (text === undefined) return undefined;
  const address = format.parseAny(text);
  if (address) return address;
  throw invalid(
    "walletAddress",
    "an address, 0x and 40 hex digits with a right checksum, or 32 bytes in base58",
  );
}

function parseToken(
  query: RawQuery,
  format: AddressFormat,
  name = "tokenAddress",
): Address | undefined {
  const text = single(query, name);
  if (text === undefined) return undefined;
  const token = format.parseAny(text);
  if (token) return token;
  throw invalid(name, "a token's address, as in the lists");
}

function parseSettlementId(query: RawQuery): string | undefined {
  const text = single(query, "settlementId");
  if (text === undefined) return undefined;
  const id = parseId(text);
  if (id !== null) return id;
  throw invalid("settlementId", "the id of a settlement, a UUID");
}

function parseTxHash(query: RawQuery): TxHash | undefined {
  const text = single(query, "txHash");
  if (text === undefined) return undefined;
  const txHash = /^0x[0-9a-fA-F]{64}$/.test(text) ? toTxHash(text) : parseSolanaTxHash(text);
  if (txHash !== undefined) return txHash;
  throw invalid("txHash", "0x and 64 hex digits, or 64 bytes in base58");
}

/** Parses a user id as a quote does: the same text means the same user. */
function parseUserIdParam(query: RawQuery): Address | undefined {
  const text = single(query, "userId");
  if (text === undefined) return undefined;
  const userId = parseUserId(text);
  if (userId !== undefined) return userId;
  throw invalid("userId", "0x and hex digits whose value fits 20 bytes");
}

function parseChainId(query: RawQuery, name = "chainId"): number | undefined {
  const text = single(query, name);
  if (text === undefined) return undefined;
  const chainId = /^[1-9]\d{0,4}$/.test(text) ? Number(text) : 0;
  if (chainId >= 1 && chainId <= 65_535) return chainId;
  throw invalid(name, "a bridge chain id, a whole number");
}

/** Parses the page of the pay links: `limit` and `cursor`. */
export function parsePayLinksQuery(query: RawQuery) {
  const cursor = parseDepositCursor(query);
  return {
    limit: parseLimit(query, LIST_LIMIT_DEFAULT, LIST_LIMIT_MAX),
    cursor: cursor && { stamp: cursor.detectedAt, id: cursor.id },
  };
}

function parseDepositCursor(query: RawQuery): DepositCursor | undefined {
  const text = single(query, "cursor");
  if (text === undefined) return undefined;
  const [stamp = "", id = ""] = text.split("_");
  const detectedAt = new RegExp(DEPOSIT_CURSOR_PATTERN).test(text)
    ? parseStamp(stamp, "down")
    : undefined;
  if (detectedAt !== undefined) return { detectedAt, id };
  throw invalid("cursor", "the nextCursor of the previous page");
}

function single(query: RawQuery, name: string): string | undefined {
  const value = query[name];
  if (value === undefined || typeof value === "string") return value;
  throw invalid(name, "to be given once");
}

function invalid(field: string, expected: string): OperatingError {
  return new OperatingError("VALIDATION_ERROR", `${field}: expected ${expected}.`, {
    details: { field },
  });
}
