/** Dashboards for Grafana, generated from the registry of metrics: each metric is on exactly one of them. */
import { createMetrics } from "../packages/service/src/telemetry/metrics.ts";

/** Prefixes of the metrics on each dashboard, in the order of its rows. */
const BOARDS = {
  operator: {
    title: "Sluice: operator",
    rows: {
      Roles: ["role_", "loop_", "config_", "database_"],
      Settlements: ["settlements", "settlement_", "quota_"],
      Inventory: ["inventory_", "attestation_", "attested_", "price_", "prices_"],
      Lanes: ["lane_", "signer_"],
      Bridges: ["bridge_", "routes_"],
      Proofs: ["audit_", "governance_"],
    },
  },
  chain: {
    title: "Sluice: chains and nodes",
    rows: { Scanner: ["scanner_"], Deposits: ["deposits_"], Nodes: ["rpc_"] },
  },
  integrator: {
    title: "Sluice: integrators",
    rows: {
      Interface: ["http_", "refusals_"],
      Events: ["events_", "stream_"],
      Webhooks: ["webhook_"],
    },
  },
} as const;
export type Board = keyof typeof BOARDS;

/** A metric as its registry describes it. */
interface Metric {
  readonly name: string;
  readonly help: string;
  readonly type: string;
  readonly labelNames: readonly string[];
}

const SELECTED = '{chain=~"$chain"}';
const PANEL = { w: 12, h: 8 } as const;

/** Returns the files of the dashboards by their names. Throws for a metric that is on none of them, or on several. */
export async function makeDashboards(): Promise<ReadonlyMap<string, object>> {
  const { registry } = createMetrics();
  const metrics: Metric[] = registry.getMetricsAsArray().map((metric) => {
    // CAST: fields of prom-client's metrics that its types leave out.
    const { name, help, labelNames = [] } = metric as unknown as Metric;
    return { name, help, type: `${metric.type}`, labelNames };
  });
  const ours = metrics.filter(({ name }) => name.startsWith("sluice_"));
  const placed = new Map(ours.map(({ name }) => [name, 0]));
  const files = new Map<string, object>();
  for (const [board, { title, rows }] of Object.entries(BOARDS)) {
    let y = 0;
    const panels: object[] = [];
    for (const [row, prefixes] of Object.entries(rows)) {
      const shown = ours.filter(({ name }) =>
        (prefixes as readonly string[]).some((prefix) => name.startsWith(`sluice_${prefix}`)),
      );
      panels.push({ type: "row", title: row, collapsed: false, gridPos: at(0, y, 24, 1) });
      y += 1;
      for (const [index, metric] of shown.entries()) {
        placed.set(metric.name, (placed.get(metric.name) ?? 0) + 1);
        panels.push(makePanel(metric, at((index % 2) * PANEL.w, y, PANEL.w, PANEL.h)));
        if (index % 2 === 1 || index === shown.length - 1) y += PANEL.h;
      }
    }
    files.set(`${board}.json`, makeBoard(board, title, panels));
  }
  const wrong = [...placed].filter(([, count]) => count !== 1).map(([name]) => name);
  if (wrong.length > 0) throw new Error(`not on exactly one dashboard: ${wrong.join(", ")}`);
  return files;
}

const at = (x: number, y: number, w: number, h: number) => ({ x, y, w, h });

function makePanel({ name, help, type, labelNames }: Metric, gridPos: object): object {
  const selector = labelNames.includes("chain") ? SELECTED : "";
  // Every process shows its own counters; the sum is the service's.
  const by = labelNames.length > 0 ? ` by (${labelNames.join(", ")})` : "";
  const legendFormat = labelNames.map((label) => `{{${label}}}`).join(" ");
  const targets =
    type === "histogram"
      ? [0.5, 0.95].map((quantile) => ({
          expr: `histogram_quantile(${quantile}, sum by (${["le", ...labelNames].join(", ")}) (rate(${name}_bucket${selector}[5m])))`,
          legendFormat: `${legendFormat} p${quantile * 100}`.trim(),
        }))
      : [
          {
            expr:
              type === "counter"
                ? `sum${by} (rate(${name}${selector}[5m]))`
                : `max${by} (${name}${selector})`,
            legendFormat,
          },
        ];
  return {
    type: "timeseries",
    title: titleOf(name),
    description: help,
    gridPos,
    datasource: DATASOURCE,
    fieldConfig: { defaults: { unit: unitOf(name, type), min: name.includes("gap") ? null : 0 } },
    targets: targets.map((target, index) => ({ ...target, refId: "AB"[index] })),
  };
}

const DATASOURCE = { type: "prometheus", uid: "${datasource}" };

function makeBoard(board: string, title: string, panels: readonly object[]): object {
  return {
    uid: `sluice-${board}`,
    title,
    tags: ["sluice"],
    editable: true,
    schemaVersion: 39,
    refresh: "30s",
    time: { from: "now-6h", to: "now" },
    templating: {
      list: [
        { name: "datasource", type: "datasource", query: "prometheus" },
        {
          name: "chain",
          type: "query",
          datasource: DATASOURCE,
          query: "label_values(sluice_scanner_head_height, chain)",
          multi: true,
          includeAll: true,
          allValue: ".*",
          current: { text: "All", value: "$__all" },
        },
      ],
    },
    panels: panels.map((panel, index) => ({ id: index + 1, ...panel })),
  };
}

function titleOf(name: string): string {
  const words = name.replace(/^sluice_/, "").replace(/_(total|seconds|base_units|ratio)$/, "");
  const text = words.replaceAll("_", " ");
  return `${text.slice(0, 1).toUpperCase()}${text.slice(1)}`;
}

function unitOf(name: string, type: string): string {
  if (name.includes("bytes")) return "Bps";
  if (name.includes("seconds")) return "s";
  if (name.endsWith("_ratio")) return "percentunit";
  return type === "counter" ? "ops" : "short";
}
