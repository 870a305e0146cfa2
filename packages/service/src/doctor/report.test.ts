import { expect, test } from "vitest";
import type { CheckResult } from "../core/check.ts";
import { formatReport, toReport } from "./report.ts";

const fine = { status: "ok", found: "it answers", expected: "an answer", advice: null } as const;
const wrong = {
  status: "problem",
  found: "decimals 6",
  expected: "decimals 8",
  advice: "Correct the decimals.",
} as const;

const CHECKS: readonly CheckResult[] = [
  { id: "node.answers", subject: "chain 2 (ethereum)", ...fine },
  { id: "database.claim", subject: "database", ...fine },
  { id: "token.decimals", subject: "chain 2 (ethereum)", item: "USDC", ...wrong },
  { id: "token.symbol", subject: "chain 2 (ethereum)", item: "USDC", ...wrong, status: "warning" },
];

test("groups checks by subject, adds the remedy of each finding, and counts findings", () => {
  expect(formatReport(toReport(CHECKS))).toBe(
    [
      "chain 2 (ethereum)",
      "  ok       node.answers         it answers",
      "  problem  token.decimals USDC  decimals 6",
      "           expected: decimals 8",
      "           do: Correct the decimals.",
      "  warning  token.symbol USDC    decimals 6",
      "           expected: decimals 8",
      "           do: Correct the decimals.",
      "",
      "database",
      "  ok       database.claim  it answers",
      "",
      "1 problem, 1 warning",
    ].join("\n"),
  );
});

test("is ok with warnings, and not ok with a problem", () => {
  expect(toReport(CHECKS).ok).toBe(false);
  expect(toReport(CHECKS.filter(({ status }) => status !== "problem")).ok).toBe(true);
});
