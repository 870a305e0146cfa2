/** The built pages: their size, and that nothing in them is inline, foreign or evaluated. */
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { afterAll, beforeAll, expect, test } from "vitest";
import { buildPages } from "../build.ts";

/** All files of the pay page together, compressed as the service sends them. */
const BYTES_MAX = 40_000;

let folder: string;
let files: ReadonlyMap<string, Buffer>;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "sluice-pages-"));
  await buildPages(join(folder, "pages"));
  const names = readdirSync(join(folder, "pages"), { recursive: true, withFileTypes: true });
  files = new Map(
    names
      .filter((entry) => entry.isFile())
      .map((entry) => [entry.name, readFileSync(join(entry.parentPath, entry.name))]),
  );
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test("the pay page has less than 40 kB", () => {
  expect([...files.keys()].toSorted()).toEqual(["page.css", "pay.html", "sluice-pay.js"]);
  const bytes = [...files.values()].reduce(
    (sum, body) => sum + gzipSync(body, { level: 9 }).length,
    0,
  );
  expect(bytes).toBeLessThan(BYTES_MAX);
});

test("the pay page loads its own files only, and evaluates no text [T292]", () => {
  const page = files.get("pay.html")?.toString() ?? "";
  expect(page).not.toMatch(/<script(?![^>]*\bsrc=)|<style|\son\w+=|\sstyle=|https?:/);
  const script = files.get("sluice-pay.js")?.toString() ?? "";
  expect(script.length).toBeGreaterThan(10_000);
  expect(/\beval\(|new Function|document\.write|https?:\/\/(?!www\.w3\.org)\w/.test(script)).toBe(
    false,
  );
  // Texts of the service become text nodes only.
  const sources = readdirSync(import.meta.dirname, { recursive: true, encoding: "utf8" })
    .filter((name) => /(?<!\.test)\.tsx?$/.test(name))
    .map((name) => readFileSync(join(import.meta.dirname, name), "utf8"));
  expect(sources.filter((text) => /innerHTML/i.test(text))).toEqual([]);
});
