/** Runs the tests of one area, which main.ts selects with MUTATION_TESTS. */
import { join } from "node:path";
import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    root: join(import.meta.dirname, "../.."),
    include: (process.env["MUTATION_TESTS"] ?? "").split(","),
    globalSetup: ["scripts/mutation/global-setup.ts"],
    testTimeout: 30_000,
    hookTimeout: 60_000,
  },
});
