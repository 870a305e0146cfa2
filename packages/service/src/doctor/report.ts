import type { CheckResult, CheckStatus } from "../core/check.ts";

/** The object that `sluice doctor --json` prints. */
export interface Report {
  /** False if a check found a problem. Warnings and skipped checks leave it true. */
  readonly ok: boolean;
  readonly checks: readonly CheckResult[];
}

export function toReport(checks: readonly CheckResult[]): Report {
  return { ok: checks.every(({ status }) => status !== "problem"), checks };
}

const STATUS_WIDTH = "problem".length;

/** Formats the report for people: grouped by subject, one line per passed check, and the counts last. */
export function formatReport({ checks }: Report): string {
  const subjects = [...new Set(checks.map(({ subject }) => subject))];
  const blocks = subjects.map((subject) => {
    const own = checks.filter((check) => check.subject === subject);
    const nameWidth = Math.max(...own.map((check) => nameOf(check).length));
    const lines = own.flatMap((check) => formatCheck(check, nameWidth));
    return [subject, ...lines, ""].join("\n");
  });
  const total = [count(checks, "problem"), count(checks, "warning")].join(", ");
  return `${blocks.join("\n")}\n${total}`;
}

function formatCheck(check: CheckResult, nameWidth: number): string[] {
  const { status, found, expected, advice } = check;
  const indent = " ".repeat(STATUS_WIDTH + 4);
  const first = `  ${status.padEnd(STATUS_WIDTH)}  ${nameOf(check).padEnd(nameWidth)}  ${found}`;
  if (status === "ok" || status === "skipped") return [first];
  return [
    first,
    `${indent}expected: ${expected}`,
    ...(advice === null ? [] : [`${indent}do: ${advice}`]),
  ];
}

function nameOf({ id, item }: CheckResult): string {
  return item === undefined ? id : `${id} ${item}`;
}

function count(checks: readonly CheckResult[], status: CheckStatus): string {
  const found = checks.filter((check) => check.status === status).length;
  return `${found} ${status}${found === 1 ? "" : "s"}`;
}
