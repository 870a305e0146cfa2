import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { formatAlertTests, readRules } from "./write-alert-tests.ts";

const DOCS = join(import.meta.dirname, "../docs");

test("every alert has its cases, and the file of their tests is up to date (npm run gen)", () => {
  const rules = readRules(readFileSync(join(DOCS, "alerts.yml"), "utf8"));
  expect(rules.length).toBeGreaterThan(40);
  expect(readFileSync(join(DOCS, "alerts.test.yml"), "utf8")).toBe(formatAlertTests(rules));
});
