import { SETTLEMENT_STATUSES, type SettlementStatus } from "@sluice/sdk/wire";
import { LIFECYCLE, TRIGGERS } from "./lifecycle.ts";

/** Draws `docs/lifecycle.md` from the table: the statuses that integrators see, and the triggers that change them. */
export function drawLifecycle(): string {
  // CAST: keys of the table are the statuses.
  const statuses = Object.keys(LIFECYCLE) as SettlementStatus[];
  const arrows = statuses.flatMap((from) =>
    TRIGGERS.flatMap((trigger) => {
      const cell = LIFECYCLE[from][trigger];
      return "to" in cell ? [`    ${from} --> ${cell.to}: ${trigger}`] : [];
    }),
  );
  const rows = statuses.map((status) => {
    const { phase, category, terminal, chainKinds } = SETTLEMENT_STATUSES[status];
    return [`\`${status}\``, chainKinds.join(", "), phase, category, terminal ? "yes" : "no"];
  });
  return [
    "# Lifecycle of a settlement",
    "",
    "Generated from `packages/service/src/settlements/lifecycle.ts` by `npm run gen`; do not edit.",
    "",
    "```mermaid",
    "stateDiagram-v2",
    ...arrows,
    "```",
    "",
    ...table(["status", "chain kind", "phase", "category", "terminal"], rows),
    "",
    "Retries follow the schedule 5 s, 15 s, 30 s, 45 s, 1 min, 5 min, 15 min. A step that was attempted and failed uses up",
    "one of seven tries. A step that could not be attempted, for a cause outside the settlement, is deferred: it uses up no",
    "try and repeats the last interval. A settlement with value in flight is never `dead`.",
    "",
  ].join("\n");
}

/** A Markdown table with aligned columns, as the formatter writes it. */
function table(head: readonly string[], rows: readonly (readonly string[])[]): string[] {
  const widths = head.map((title, column) =>
    Math.max(title.length, ...rows.map((row) => row[column]?.length ?? 0)),
  );
  const line = (cells: readonly string[]) =>
    `| ${cells.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(" | ")} |`;
  return [line(head), line(widths.map((width) => "-".repeat(width))), ...rows.map(line)];
}
