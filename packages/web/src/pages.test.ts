/** The built pages: their size, and that nothing in them is inline, foreign or evaluated. */
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { afterAll, beforeAll, expect, test } from "vitest";
import { buildPages } from "../build.ts";

/** Files of each page without the hashes in their names, and the most that they have together, compressed as the service sends them. */
const PAGES = [
  { files: ["page.css", "pay.html", "sluice-pay.js"], bytesMax: 40_000 },
  { files: ["console.html", "console.js"], bytesMax: 40_000 },
  { files: ["operator.html", "operator.js", "rows.js"], bytesMax: 40_000 },
  // Loaded by the one before when somebody looks at it: a library that draws.
  { files: ["trends.js"], bytesMax: 30_000 },
] as const;

let folder: string;
let files: ReadonlyMap<string, Buffer>;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "sluice-pages-"));
  await buildPages(join(folder, "pages"));
  const names = readdirSync(join(folder, "pages"), { recursive: true, withFileTypes: true });
  files = new Map(
    names
      .filter((entry) => entry.isFile())
      .map((entry) => [
        entry.name.replace(/-[\w-]{8}\.js$/, ".js"),
        readFileSync(join(entry.parentPath, entry.name)),
      ]),
  );
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test("no page is larger than it may be", () => {
  const names = PAGES.flatMap((page) => page.files);
  expect([...files.keys()].toSorted()).toEqual(names.toSorted());
  for (const page of PAGES) {
    const sizes = page.files.map(
      (name) => gzipSync(files.get(name) ?? Buffer.alloc(0), { level: 9 }).length,
    );
    expect(sizes.reduce((sum, size) => sum + size)).toBeLessThan(page.bytesMax);
  }
});

test("pages load their own files only, and evaluate no text [T292]", () => {
  const ending = (end: string) =>
    [...files].filter(([name]) => name.endsWith(end)).map(([, body]) => body.toString());
  for (const text of ending(".html")) {
    expect(text).not.toMatch(/<script(?![^>]*\bsrc=)|<style|\son\w+=|\sstyle=|https?:/);
  }
  for (const text of ending(".js")) {
    expect(text.length).toBeGreaterThan(10_000);
    // Names of namespaces, and a page that a library's warning names, are texts.
    const own = text.replaceAll(/https?:\/\/(www\.w3\.org|simplewebauthn\.dev\/docs)\//g, "");
    expect(/\beval\(|new Function|document\.write|https?:\/\/\w/.test(own)).toBe(false);
  }
  // Texts of the service become text nodes only.
  const sources = readdirSync(import.meta.dirname, { recursive: true, encoding: "utf8" })
    .filter((name) => /(?<!\.test)\.tsx?$/.test(name))
    .map((name) => readFileSync(join(import.meta.dirname, name), "utf8"));
  expect(sources.filter((text) => /innerHTML/i.test(text))).toEqual([]);
});
