/** The database server is of the whole run: processes that never end are killed, and would leave theirs behind. */
import type { TestProject } from "vitest/node";

export function setup(project: TestProject): void {
  project.provide("testSocketDir", process.env["MUTATION_DATABASE"] ?? "");
}
