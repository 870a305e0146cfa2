import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { parseStamp } from "./stamp-input.ts";

describe("a time from outside", () => {
  test.each([
    ["2026-01-31T12:00:00.123Z", "2026-01-31T12:00:00.123Z"],
    ["2026-01-31t12:00:00z", "2026-01-31T12:00:00.000Z"],
    ["2026-01-31 12:00", "2026-01-31T12:00:00.000Z"],
    ["2026-01-31", "2026-01-31T00:00:00.000Z"],
    ["2026-01-31T12:00:00,5Z", "2026-01-31T12:00:00.500Z"],
    ["2026-01-31T12:00:00+02:00", "2026-01-31T10:00:00.000Z"],
    ["2026-01-31T12:00:00-0230", "2026-01-31T14:30:00.000Z"],
    ["2026-01-31T23:30:00-02", "2026-02-01T01:30:00.000Z"],
    ["2024-02-29", "2024-02-29T00:00:00.000Z"],
    ["0001-01-01", "0001-01-01T00:00:00.000Z"],
    ["9999-12-31T23:59:59.999Z", "9999-12-31T23:59:59.999Z"],
  ])("%s is %s", (text, stamp) => {
    expect(parseStamp(text, "down")).toBe(stamp);
    expect(parseStamp(text, "up")).toBe(stamp);
  });

  test("between two milliseconds goes where the list loses nothing", () => {
    expect(parseStamp("2026-01-31T12:00:00.123000001Z", "down")).toBe("2026-01-31T12:00:00.123Z");
    expect(parseStamp("2026-01-31T12:00:00.123000001Z", "up")).toBe("2026-01-31T12:00:00.124Z");
  });

  test.each([
    "",
    "now",
    "1769860800000",
    "2026-02-30",
    "2026-13-01",
    "2026-00-10",
    "2025-02-29",
    "2026-01-31T24:00:00Z",
    "2026-01-31T12:60Z",
    "2026-01-31T12:00:00+24:00",
    "2026-01-31T12:00:00 02:00",
    "2026-01-31T12:00:00.1234567890Z",
    "0000-01-01",
    "0001-01-01T00:00:00+01:00",
    "9999-12-31T23:59:59.999-00:01",
    "+002026-01-31",
    "2026-01-31T12:00:00Z\n",
    "２０２６-01-31",
  ])("%j is refused", (text) => {
    expect(parseStamp(text, "down")).toBeUndefined();
    expect(parseStamp(text, "up")).toBeUndefined();
  });

  test("that the service sent is understood as itself", () => {
    const years = { min: new Date("0001-01-01"), max: new Date("9999-12-31"), noInvalidDate: true };
    fc.assert(
      fc.property(fc.date(years), (date) => {
        expect(parseStamp(date.toISOString(), "up")).toBe(date.toISOString());
      }),
    );
  });
});
