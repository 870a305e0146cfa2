/** Parses the queries of the lists. */
import {
  DEPOSIT_CURSOR_PATTERN,
  EVENT_TYPES,
  EVENTS_LIMIT_DEFAULT,
  EVENTS_LIMIT_MAX,
  type EventType,
  LIST_LIMIT_DEFAULT,
  LIST_LIMIT_MAX,
  SETTLEMENT_STATUS_NAMES,
  type SettlementStatus,
  UUID_PATTERN,
} from "@sluice/sdk/wire";
import type { AddressFormat } from "../chains/port/index.ts";
import { parseSolanaTxHash } from "../core/base58.ts";
import { type Address, toTxHash, type TxHash } from "../core/hex.ts";
import { parseUserId } from "../core/user-id.ts";
import type { DepositCursor } from "../deposits/index.ts";
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
    },
  };
}

/**
 * Returns page and filters of a list of deposits.
 * @throws OperatingError VALIDATION_ERROR naming the parameter.
 */
export function parseDepositsQuery(query: RawQuery, format: AddressFormat) {
  return {
    limit: parseLimit(query, LIST_LIMIT_DEFAULT, LIST_LIMIT_MAX),
    cursor: parseDepositCursor(query),
    wallet: parseWallet(query, format),
    chainId: parseChainId(query),
    txHash: parseTxHash(query),
  };
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
  readonly type: EventType | undefined;
  /** As it is displayed. */
  readonly walletAddress: string | undefined;
} {
  const wallet = parseWallet(query, format);
  return {
    limit: parseLimit(query, EVENTS_LIMIT_DEFAULT, EVENTS_LIMIT_MAX),
    since: parseStampParam(query, "since", "down"),
    type: parseType(query),
    walletAddress: wallet && format.display(wallet),
  };
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

function parseType(query: RawQuery): EventType | undefined {
  const text = single(query, "type");
  if (text === undefined) return undefined;
  const type = EVENT_TYPES.find((known) => known === text);
  if (type) return type;
  throw invalid("type", EVENT_TYPES.join(" or "));
}

function parseStatus(query: RawQuery): SettlementStatus | undefined {
  const text = single(query, "status");
  if (text === undefined) return undefined;
  const status = SETTLEMENT_STATUS_NAMES.find((known) => known === text);
  if (status) return status;
  throw invalid("status", `one of ${SETTLEMENT_STATUS_NAMES.join(", ")}`);
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

function parseChainId(query: RawQuery): number | undefined {
  const text = single(query, "chainId");
  if (text === undefined) return undefined;
  const chainId = /^[1-9]\d{0,4}$/.test(text) ? Number(text) : 0;
  if (chainId >= 1 && chainId <= 65_535) return chainId;
  throw invalid("chainId", "a bridge chain id, a whole number");
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
