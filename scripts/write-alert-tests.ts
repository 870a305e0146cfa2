/** Writes `docs/alerts.test.yml`, which `promtool test rules` runs: when each alert fires, when not yet, and when not. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ALERT_CASES, type AlertCase } from "./alert-cases.ts";

const DOCS = join(import.meta.dirname, "../docs");

interface Rule {
  readonly alert: string;
  readonly forMin: number;
  readonly severity: string;
  readonly summary: string;
  readonly runbook: string;
}

const MINUTES: Readonly<Record<string, number>> = { m: 1, h: 60 };

/** Reads the rules; each has its keys in the same order. */
export function readRules(text: string): readonly Rule[] {
  return text
    .split(/^ {6}- alert: /m)
    .slice(1)
    .map((rule) => {
      const find = (pattern: RegExp) => pattern.exec(rule)?.at(-1) ?? "";
      const [, count = "", unit = ""] = /^ {8}for: (\d+)([mh])$/m.exec(rule) ?? [];
      return {
        alert: rule.split("\n")[0] ?? "",
        forMin: Number(count) * (MINUTES[unit] ?? 1),
        severity: find(/^ {10}severity: (\w+)$/m),
        summary: find(/^ {10}summary: (["'])(.+)\1$/m),
        runbook: find(/^ {10}runbook: (\S+)$/m),
      };
    });
}

/** Returns the file. @throws Error for a rule without a case, and a case without a rule. */
export function formatAlertTests(rules: readonly Rule[]): string {
  const missing = rules.filter(({ alert }) => !ALERT_CASES.some((one) => one.alert === alert));
  if (missing.length > 0) throw new Error(`no case of ${missing.map(({ alert }) => alert).join()}`);
  const tests = ALERT_CASES.flatMap((one) => {
    const rule = rules.find(({ alert }) => alert === one.alert);
    if (!rule) throw new Error(`no rule ${one.alert}`);
    return formatCase(one, rule);
  });
  return [
    "# Tests of the alert rules: promtool test rules docs/alerts.test.yml",
    "# Written by `npm run gen` from scripts/alert-cases.ts.",
    "rule_files: [alerts.yml]",
    "evaluation_interval: 1m",
    "tests:",
    ...tests,
    "",
  ].join("\n");
}

function formatCase(one: AlertCase, rule: Rule): readonly string[] {
  const { alert, fires, quiet, afterMin = rule.forMin + 1 } = one;
  // The first look that finds the condition starts the rule's own time.
  const notYet = rule.forMin > 0 ? [`${rule.forMin - 1}m`] : [];
  return [
    ...formatTest(`${alert} fires`, fires, [
      ...notYet.flatMap((time) => formatLook(alert, time, null)),
      ...formatLook(alert, `${afterMin}m`, describe(one, rule)),
    ]),
    ...formatTest(`${alert} does not`, quiet, formatLook(alert, `${afterMin}m`, null)),
  ];
}

function formatTest(name: string, series: AlertCase["fires"], looks: readonly string[]) {
  return [
    `  - name: ${name}`,
    "    interval: 1m",
    "    input_series:",
    ...Object.entries(series).flatMap(([labels, values]) => [
      `      - series: '${labels}'`,
      `        values: "${values}"`,
    ]),
    "    alert_rule_test:",
    ...looks,
  ];
}

function formatLook(alert: string, time: string, expected: readonly string[] | null) {
  return [
    `      - eval_time: ${time}`,
    `        alertname: ${alert}`,
    ...(expected ?? ["        exp_alerts: []"]),
  ];
}

/** @throws Error when the summary shows a label or the value and the case does not give it */
function describe({ alert, labels, value }: AlertCase, { severity, summary, runbook }: Rule) {
  function give(name: string, given: string | undefined) {
    if (given === undefined)
      throw new Error(`the summary of ${alert} shows ${name}: its case must give it`);
    return given;
  }
  const text = summary
    .replaceAll(/\{\{ \$labels\.(\w+) \}\}/g, (_, label: string) => give(label, labels[label]))
    .replaceAll(/\{\{ \$value[^}]*\}\}/g, () => give("$value", value));
  const pairs = Object.entries({ severity, ...labels });
  return [
    "        exp_alerts:",
    "          - exp_labels:",
    ...pairs.map(([label, given]) => `              ${label}: "${given}"`),
    "            exp_annotations:",
    `              summary: ${JSON.stringify(text)}`,
    `              runbook: ${runbook}`,
  ];
}

if (import.meta.main) {
  const rules = readRules(readFileSync(join(DOCS, "alerts.yml"), "utf8"));
  writeFileSync(join(DOCS, "alerts.test.yml"), formatAlertTests(rules));
}
