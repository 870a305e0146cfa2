/** The queries of the lists, parsed once at the border. */
import {
  EVENT_TYPES,
  EVENTS_LIMIT_DEFAULT,
  EVENTS_LIMIT_MAX,
  type EventType,
  ISO_8601_PATTERN,
  LIST_LIMIT_DEFAULT,
  LIST_LIMIT_MAX,
} from "@sluice/sdk/wire";
import { OperatingError } from "../core/errors.ts";
import { formatStamp } from "../core/stamp.ts";

type RawQuery = Readonly<Record<string, unknown>>;

/** Page of a newest-first list. @throws OperatingError VALIDATION_ERROR naming the parameter. */
export function parseListQuery(query: RawQuery): {
  readonly limit: number;
  readonly cursor: string | undefined;
} {
  return {
    limit: parseLimit(query, LIST_LIMIT_DEFAULT, LIST_LIMIT_MAX),
    cursor: parseStamp(query, "cursor"),
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
    since: parseStamp(query, "since"),
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

function parseStamp(query: RawQuery, name: string): string | undefined {
  const text = single(query, name);
  if (text === undefined) return undefined;
  if (new RegExp(ISO_8601_PATTERN).test(text)) {
    const ms = Date.parse(withZone(text));
    if (!Number.isNaN(ms) && !rollsOver(text)) return formatStamp(ms);
  }
  throw invalid(name, "an ISO 8601 time such as 2026-01-31T12:00:00.000Z");
}

/** A time without an offset is UTC, whatever the machine's zone; a plus may have been decoded to a blank. */
function withZone(text: string): string {
  const time = text.replace(/^(\S{10})[t ]/, "$1T").replace(",", ".");
  if (!time.includes("T") || /[zZ]$|[+-]\d{2}(:?\d{2})?$/.test(time))
    return time.replace(/z$/, "Z");
  return `${time}Z`;
}

/** Whether a date does not exist, such as 31 February, which parsers move into the next month. */
function rollsOver(text: string): boolean {
  const [year = 0, month = 0, day = 0] = text.slice(0, 10).split("-").map(Number);
  const date = new Date(Date.UTC(year, month - 1, day));
  return date.getUTCMonth() !== month - 1 || date.getUTCDate() !== day;
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
