import { expect, test } from "vitest";
import { formatCsvLine, textAt } from "./csv.ts";

test("quotes cells with commas, quotes and line ends by RFC 4180", () => {
  expect(formatCsvLine(["a", "b,c", 'd"e', "f\r\ng", ""])).toBe('a,"b,c","d""e","f\r\ng",');
});

test.each([
  "=HYPERLINK(1)",
  "+1",
  "-1",
  "@SUM(A1)",
  "\t=1",
  "\r=1",
  "  =1",
  "\u00a0=1",
  "＝1",
  "＋1",
  "－1",
  "＠1",
])("puts an apostrophe before %j, which a spreadsheet would run [T232]", (formula) => {
  expect(formatCsvLine([formula])).toBe(`"'${formula}"`);
});

test("leaves amounts, addresses, times and ordinary labels as they are", () => {
  const cells = ["1000000", `0x${"a".repeat(40)}`, "2026-01-31T12:00:00.000Z", "till 4 - south"];
  expect(formatCsvLine(cells)).toBe(cells.join(","));
});

test("reads paths of an object, and writes objects as JSON and absent values as nothing", () => {
  const item = { fees: { gas: "5" }, error: null, metadata: { a: "1" }, queued: false, count: 0 };
  expect(
    ["fees.gas", "error.code", "metadata", "queued", "count", "none"].map((path) =>
      textAt(item, path),
    ),
  ).toEqual(["5", "", '{"a":"1"}', "false", "0", ""]);
});
