import { SETTLEMENT_STATUSES, type SettlementStatus } from "@sluice/sdk/wire";
import { LIFECYCLE, type Trigger, TRIGGERS } from "./lifecycle.ts";

const MEANINGS: Readonly<Record<Trigger, string>> = {
  wallet_ready: "the wallet has code, from our deployment or another",
  deploy_planned:
    "the deployment is committed to a lane, with the first sweep where it is possible now",
  sweep_planned: "the sweep is committed to a lane, or its delivery continues after an error",
  failed: "a step was attempted and failed; it uses up a try",
  deferred: "a step could not be attempted, for a cause outside the settlement; it uses up no try",
  delivered: "our own reader found the promised value in the destination wallet",
  given_up: "no try is left, or no retry can help, and no value is in flight",
};

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
    "A settlement begins in `pending_deploy`, in `pending_swap` if its wallet has code already, or on Solana in",
    "`pending_settle`. The names of the statuses are the interface's: `swap` stands for the sweep and its delivery.",
    "",
    "```mermaid",
    "stateDiagram-v2",
    ...arrows,
    "```",
    "",
    ...table(
      ["trigger", "meaning"],
      TRIGGERS.map((trigger) => [`\`${trigger}\``, MEANINGS[trigger]]),
    ),
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
