/** The alert rules by Prometheus's own evaluation, from the Debian package `prometheus`, which `.ci/run` installs. */
import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { run } from "./release/project.ts";

const DOCS = join(import.meta.dirname, "../docs");

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "sluice-alerts-"));
  copyFileSync(join(DOCS, "alerts.test.yml"), join(folder, "alerts.test.yml"));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Tests rules against the cases. */
const testRules = async (rules: string) => {
  writeFileSync(join(folder, "alerts.yml"), rules);
  return run("promtool", ["test", "rules", "alerts.test.yml"], folder);
};

const RULES = readFileSync(join(DOCS, "alerts.yml"), "utf8");

test("each alert fires when it should, not before its time, and not below its bound", async () => {
  expect(await testRules(RULES)).toContain("SUCCESS");
});

test("the cases notice a higher and a lower bound, a longer time, another label and another severity", async () => {
  const changes = [
    ["SluiceScannerStalled", "last_block_age_seconds > 300", "last_block_age_seconds > 400"],
    ["SluiceLaneReverts", "lane_reverts_total[15m]) > 3", "lane_reverts_total[15m]) > 1"],
    ["SluiceScannerBehind", "for: 10m", "for: 20m"],
    ["SluiceRpcRateLimited", "sum by (chain, node)", "sum by (chain)"],
    ["SluiceDeliveryUnclaimedTwoDays", "severity: emergency", "severity: warning"],
  ] as const;
  let rules = RULES;
  for (const [, from, to] of changes) {
    expect(rules).toContain(from);
    rules = rules.replaceAll(from, to);
  }
  const printed = await testRules(rules).then(
    () => "no failure",
    (error: unknown) => String(Reflect.get(Object(error), "stderr")),
  );
  const noticed = changes
    .map(([alert]) => alert)
    .filter((alert) => printed.includes(`alertname: ${alert},`));
  expect(noticed).toEqual(changes.map(([alert]) => alert));
});
