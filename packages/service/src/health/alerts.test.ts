/** The alert rules, the metrics and the runbook refer to each other, so that none of them can change alone. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { BACKUP_GAUGES } from "../backups/index.ts";
import { MOVE_GAUGES } from "../rebalancing/index.ts";
import { ROUTE_GAUGES } from "../routes/index.ts";
import { WEBHOOK_GAUGES } from "../webhooks/index.ts";
import { createMetrics } from "../telemetry/metrics.ts";
import { openRowGauge } from "../telemetry/row-gauge.ts";

const DOCS = join(import.meta.dirname, "../../../../docs");
const rules = readFileSync(join(DOCS, "alerts.yml"), "utf8")
  .split(/^ {6}- alert: /m)
  .slice(1)
  .map((text) => ({
    alert: text.split("\n")[0] ?? "",
    expr: /^ {8}expr: (["'])(.+)\1$/m.exec(text)?.[2] ?? "",
    severity: /^ {10}severity: (\w+)$/m.exec(text)?.[1],
    summary: /^ {10}summary: (["'])(.+)\1$/m.exec(text)?.[2] ?? "",
    runbook: /^ {10}runbook: docs\/runbook\/([a-z-]+\.md)$/m.exec(text)?.[1] ?? "",
  }));
const pages = readdirSync(join(DOCS, "runbook")).filter((name) => name !== "README.md");

const { registry } = createMetrics();
for (const gauge of [...ROUTE_GAUGES, ...MOVE_GAUGES, ...WEBHOOK_GAUGES, ...BACKUP_GAUGES])
  openRowGauge(registry, gauge);
/** The labels of each metric, by its name. */
const known = new Map(
  (await registry.getMetricsAsJSON()).map(({ name }) => {
    const metric = registry.getSingleMetric(name);
    const labelNames: unknown = metric && Reflect.get(metric, "labelNames");
    return [name, Array.isArray(labelNames) ? labelNames.map(String) : []];
  }),
);

/** Returns the metric of a series; a histogram has three series. */
function metricOf(series: string): string {
  return known.has(series) ? series : series.replace(/_(count|sum|bucket)$/, "");
}

describe.each(rules)("the alert $alert", ({ alert, expr, severity, summary, runbook }) => {
  const series = [...expr.matchAll(/\b(sluice_\w+)(?:\{([^}]*)\})?/g)].map(
    ([, name = "", matchers = ""]) => ({
      metric: metricOf(name),
      // Prometheus's own label of a histogram's buckets.
      matchers: name.endsWith("_bucket") ? matchers.replace(/\ble="\d+"/, "") : matchers,
    }),
  );

  test("has a name, a severity and a summary", () => {
    expect(alert).toMatch(/^Sluice[A-Za-z]+$/);
    expect(["warning", "critical", "emergency"]).toContain(severity);
    expect(summary).not.toBe("");
  });

  test("uses only existing metrics and labels", () => {
    expect(series).not.toEqual([]);
    expect(series.filter(({ metric }) => !known.has(metric))).toEqual([]);
    const unknown = series.flatMap(({ metric, matchers }) =>
      [...matchers.matchAll(/(\w+)(?:=|!=|=~|!~)"/g)].filter(
        ([, label = ""]) => !known.get(metric)?.includes(label),
      ),
    );
    expect(unknown).toEqual([]);
    // Prometheus adds `instance` to every metric that it scrapes.
    const labels = [...series.flatMap(({ metric }) => known.get(metric) ?? []), "instance"];
    const shown = [...summary.matchAll(/\$labels\.(\w+)/g)].map(([, label]) => label);
    expect(labels).toEqual(expect.arrayContaining(shown));
  });

  test("has a complete page in the runbook", () => {
    const page = readFileSync(join(DOCS, "runbook", runbook), "utf8");
    expect(page.split("\n")[0]).toBe(`# ${alert}`);
    expect(page.match(/^## .+$/gm)).toEqual([
      "## Where to look",
      "## Remedy",
      "## Is money at risk?",
    ]);
    const links = [...page.matchAll(/\]\(([\w-]+\.md)\)/g)].map(([, link]) => link);
    expect(pages).toEqual(expect.arrayContaining(links));
    const named = [...page.matchAll(/\b(sluice_\w+)/g)].map(([, name = ""]) => metricOf(name));
    expect([...known.keys()]).toEqual(expect.arrayContaining(named));
    const index = readFileSync(join(DOCS, "runbook/README.md"), "utf8");
    expect(index).toContain(`[${alert}](${runbook})`);
    expect(index.split("\n").find((line) => line.includes(`(${runbook})`))).toContain(severity);
  });
});

test("every alert has a unique name, and every runbook page belongs to an alert", () => {
  expect(rules.length).toBeGreaterThan(15);
  expect(new Set(rules.map(({ alert }) => alert)).size).toBe(rules.length);
  expect(pages.toSorted()).toEqual(rules.map(({ runbook }) => runbook).toSorted());
});

test("every metric has the prefix sluice_, a base unit and a HELP text", async () => {
  const metrics = await registry.getMetricsAsJSON();
  for (const { name, help } of metrics) {
    expect(name).toMatch(/^sluice_[a-z_]+$/);
    expect(name).not.toMatch(/_(ms|milliseconds|minutes|hours|eth|gwei)(_|$)/);
    expect(help).toMatch(/\.$/);
  }
  // CAST: the library's declaration has a number, its values are words.
  const counters = metrics.filter(({ type }) => (type as unknown as string) === "counter");
  expect(counters.length).toBeGreaterThan(5);
  expect(counters.filter(({ name }) => !name.endsWith("_total"))).toEqual([]);
});

test("metrics have only labels of a closed list, whose values are few", () => {
  expect(new Set([...known.values()].flat())).toEqual(
    new Set(
      "account chain direction kind loop method node outcome pool purpose reason role route service state status token type".split(
        " ",
      ),
    ),
  );
});
