/**
 * Times that callers send: dates of the calendar, with or without a time, as ISO 8601 writes them, and never one that
 * the calendar or the database does not have.
 */
import { ISO_8601_PATTERN } from "@sluice/sdk/wire";
import { formatStamp } from "../core/stamp.ts";

/** Where a time between two milliseconds goes. */
export type Rounding = "down" | "up";

const FORM = new RegExp(ISO_8601_PATTERN);
/** The parts of what has the form, with or without its separators. */
const PARTS =
  /^(\d{4})-?(\d\d)-?(\d\d)(?:[Tt ](\d\d):?(\d\d)(?::?(\d\d)(?:[.,](\d+))?)?)?(?:[Zz]|([+-])(\d\d):?(\d\d)?)?$/;

/** The wire's spelling of a time, in UTC where it has no offset; undefined when it is not one. */
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
  // 24:00 is the end of the day, and nothing comes after it.
  if (hour === 24 && minute + second + Number(fraction) > 0) return undefined;
  const date = new Date(0);
  date.setUTCFullYear(year, month - 1, day);
  // The calendar moves a day that does not exist into the next month.
  if (date.getUTCMonth() !== month - 1 || date.getUTCDate() !== day) return undefined;

  const between = rounding === "up" && Number(fraction.slice(3)) > 0 ? 1 : 0;
  const offsetMs = (offsetHour * 60 + offsetMinute) * 60_000 * (parts[8] === "-" ? -1 : 1);
  const timeMs = ((hour * 60 + minute) * 60 + second) * 1_000 + Number(fraction.slice(0, 3));
  const ms = date.getTime() + timeMs - offsetMs + between;
  return ms >= STAMP_MIN_MS && ms <= STAMP_MAX_MS ? formatStamp(ms) : undefined;
}

/** The years that four digits can write; the database has no year 0. */
const STAMP_MIN_MS = Date.parse("0001-01-01T00:00:00.000Z");
const STAMP_MAX_MS = Date.parse("9999-12-31T23:59:59.999Z");
