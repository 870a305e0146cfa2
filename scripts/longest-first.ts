/**
 * The order of the test files. Several run at once, so the long ones come first and the short ones fill the gaps at the
 * end: stories, longest first, then the browser, then the units.
 */
import { basename } from "node:path";
import { BaseSequencer, type TestSpecification } from "vitest/node";

const PROJECTS = ["stories", "browser", "unit", "tidy"] as const;

/** The long stories, about in the order of their length. One that is not named here comes after them. */
const LONGEST = [
  "simulation",
  "crashes",
  "reorgs",
  "hostile-tokens",
  "bridge",
  "nodes",
  "inventory",
  "kills",
  "pairs",
  "batches",
  "swaps",
  "keys",
  "sdk",
  "fees",
  "deliveries",
  "roles",
  "ledger",
  "doctor",
  "operator",
  "watch",
] as const;

function rankOf({ project, moduleId }: TestSpecification): number {
  const byProject = PROJECTS.findIndex((name) => name === project.name);
  const story = basename(moduleId, ".e2e.test.ts");
  const byLength = LONGEST.findIndex((name) => name === story);
  return byProject * (LONGEST.length + 1) + (byLength === -1 ? LONGEST.length : byLength);
}

export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    return sorted.toSorted((one, other) => rankOf(one) - rankOf(other));
  }
}
