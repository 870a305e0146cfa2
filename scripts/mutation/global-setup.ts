/** Uses one database server for the whole run: a killed test process would leave its own server behind. */
import type { TestProject } from "vitest/node";

export function setup(project: TestProject): void {
  project.provide("testSocketDir", process.env["MUTATION_DATABASE"] ?? "");
}
