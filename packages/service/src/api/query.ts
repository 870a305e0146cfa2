/** The queries of the lists, parsed once at the border. */
import {
  EVENT_TYPES,
  EVENTS_LIMIT_DEFAULT,
  EVENTS_LIMIT_MAX,
  type EventType,
  LIST_LIMIT_DEFAULT,
  LIST_LIMIT_MAX,
} from "@sluice/sdk/wire";
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

/** Page of the replay. @throws OperatingError VALIDATION_ERROR naming the parameter. */
export function parseEventsQuery(query: RawQuery): {
  readonly limit: number;
  readonly since: string | undefined;
  readonly type: EventType | undefined;
} {
  return {
    limit: parseLimit(query, EVENTS_LIMIT_DEFAULT, EVENTS_LIMIT_MAX),
    since: parseStampParam(query, "since", "down"),
    type: parseType(query),
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
  throw invalid(name, "an ISO 8601 time such as 2026-01-31T12:00:00.000Z");
}

function parseType(query: RawQuery): EventType | undefined {
  const text = single(query, "type");
  if (text === undefined) return undefined;
  const type = EVENT_TYPES.find((known) => known === text);
  if (type) return type;
  throw invalid("type", EVENT_TYPES.join(" or "));
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
