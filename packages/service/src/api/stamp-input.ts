/** Parses times from callers: ISO 8601 calendar dates with or without a time, within the range of the database. */
import { ISO_8601_PATTERN } from "@sluice/sdk/wire";
import { formatStamp } from "../core/stamp.ts";

/** Rounding of a time between two milliseconds. */
export type Rounding = "down" | "up";

const FORM = new RegExp(ISO_8601_PATTERN);
/** Parts of a well-formed time, with or without separators. */
const PARTS =
  /^(\d{4})-?(\d\d)-?(\d\d)(?:[Tt ](\d\d):?(\d\d)(?::?(\d\d)(?:[.,](\d+))?)?)?(?:[Zz]|([+-])(\d\d):?(\d\d)?)?$/;

/** Returns the wire spelling of a time, in UTC if it has no offset; undefined if it is invalid. */
export function parseStamp(text: string, rounding: Rounding): string | undefined {
  const parts = FORM.test(text) ? PARTS.exec(text) : null;
  if (!parts) return undefined;
  const numberAt = (index: number) => Number(parts[index] ?? 0);
  const [year, month, day] = [numberAt(1), numberAt(2), numberAt(3)];
  const [hour, minute, second] = [numberAt(4), numberAt(5), numberAt(6)];
  const [offsetHour, offsetMinute] = [numberAt(9), numberAt(10)];
  const fraction = (parts[7] ?? "").padEnd(9, "0");
  if (hour > 24 || minute > 59 || second > 59 || offsetHour > 23 || offsetMinute > 59) {
    return undefined;
  }
  // 24:00 is the end of the day and allows no further time.
  if (hour === 24 && minute + second + Number(fraction) > 0) return undefined;
  const date = new Date(0);
  date.setUTCFullYear(year, month - 1, day);
  // Date moves a nonexistent day into the next month.
  if (date.getUTCMonth() !== month - 1 || date.getUTCDate() !== day) return undefined;

  const between = rounding === "up" && Number(fraction.slice(3)) > 0 ? 1 : 0;
  const offsetMs = (offsetHour * 60 + offsetMinute) * 60_000 * (parts[8] === "-" ? -1 : 1);
  const timeMs = ((hour * 60 + minute) * 60 + second) * 1_000 + Number(fraction.slice(0, 3));
  const ms = date.getTime() + timeMs - offsetMs + between;
  return ms >= STAMP_MIN_MS && ms <= STAMP_MAX_MS ? formatStamp(ms) : undefined;
}

/** Years of four digits; the database has no year 0. */
const STAMP_MIN_MS = Date.parse("0001-01-01T00:00:00.000Z");
const STAMP_MAX_MS = Date.parse("9999-12-31T23:59:59.999Z");
