/** The documentation builds as a site: every page is one of it, and every link of it leads somewhere, or the build fails. */
import { execFileSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

const ROOT = join(import.meta.dirname, "..");
const SITE = join(ROOT, "site");

test("every page of the documentation is on the site, with its commands as they are written", () => {
  const npm = (...args: readonly string[]) =>
    execFileSync("npm", [...args], { cwd: SITE, stdio: "pipe", encoding: "utf8" });
  npm("ci", "--ignore-scripts", "--no-audit", "--no-fund");
  npm("run", "build");
  const pages = readdirSync(join(ROOT, "docs"), { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".md"))
    .map((name) => `docs/${name.replace(/README\.md$/, "index.md").replace(/\.md$/, ".html")}`);
  expect(pages.length).toBeGreaterThan(60);
  expect(pages.filter((page) => !existsSync(join(SITE, "dist", page)))).toEqual([]);
  expect(readFileSync(join(SITE, "dist/docs/doctor.html"), "utf8")).toContain("--go-live");
  expect(existsSync(join(SITE, "dist/docs/alerts.yml"))).toBe(true);
});
