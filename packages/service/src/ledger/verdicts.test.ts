/** The list of verdicts is complete: on the page, and in the code that finds them. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { VERDICT_NAMES, VERDICTS } from "./verdicts.ts";

const SRC = join(import.meta.dirname, "..");
const PAGE = readFileSync(join(SRC, "../../../docs/ledger.md"), "utf8");

/** Rows of a table of the page, as their cells without formatting. */
const rows = PAGE.split("\n")
  .filter((line) => line.startsWith("| `"))
  .map((line) =>
    line
      .split("|")
      .slice(1, -1)
      .map((cell) => cell.trim().replace(/^`(\w+)`$/, "$1")),
  );

const CODE = readdirSync(SRC, { recursive: true, encoding: "utf8" })
  .filter((name) => name.endsWith(".ts") && !name.endsWith("verdicts.ts"))
  .map((name) => ({ name, text: readFileSync(join(SRC, name), "utf8") }));

describe("a verdict", () => {
  test("is on the page with its invariant, its effect, its cause and its remedy", () => {
    const wanted = VERDICT_NAMES.map((name) => {
      const { invariant, stops, claims, cause, remedy } = VERDICTS[name];
      const effect = stops === "chain" ? `chain; claims ${claims}` : stops;
      return [name, invariant, effect, cause, remedy];
    });
    expect(rows.filter(([name]) => name && Object.hasOwn(VERDICTS, name))).toEqual(wanted);
  });

  test.each(VERDICT_NAMES)("%s is found by code, and played by a test", (name) => {
    const using = CODE.filter(({ text }) => text.includes(`"${name}"`)).map((file) => file.name);
    expect(using.filter((file) => !file.includes(".test."))).not.toEqual([]);
    expect(using.filter((file) => file.includes(".test."))).not.toEqual([]);
  });
});
