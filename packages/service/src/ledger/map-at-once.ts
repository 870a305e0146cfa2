/** Comparisons of rows with the chains. */
import type { Finding } from "./breaches.ts";

/** Rows compared at the same time: a full audit asks each chain a few questions for every row ever written. */
const ROWS_AT_ONCE = 16;

/** Returns the findings of all rows, in their order. Throws the first error, after which no other rows are compared. */
export async function mapAtOnce<Row>(
  rows: readonly Row[],
  compare: (row: Row) => Promise<readonly Finding[]>,
): Promise<Finding[]> {
  const findings: Finding[] = [];
  for (let from = 0; from < rows.length; from += ROWS_AT_ONCE) {
    const some = rows.slice(from, from + ROWS_AT_ONCE);
    findings.push(...(await Promise.all(some.map(compare))).flat());
  }
  return findings;
}
