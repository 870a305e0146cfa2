import { defineConfig } from "vitest/config";
import { LongestFirst } from "./scripts/longest-first.ts";

/**
 * Test files at once, of whatever project: most of a story is waiting for blocks. Each story has its own nodes, service,
 * folder and free ports, so that they share nothing.
 */
const maxWorkers = 3;

export default defineConfig({
  test: {
    sequence: { sequencer: LongestFirst },
    projects: [
      {
        test: {
          name: "tidy",
          include: ["scripts/**/*.test.ts"],
          maxWorkers,
        },
      },
      {
        test: {
          name: "unit",
          include: ["packages/*/src/**/*.test.ts"],
          globalSetup: ["packages/service/test/support/global-setup.ts"],
          testTimeout: 60_000,
          hookTimeout: 120_000,
          maxWorkers,
        },
      },
      {
        test: {
          name: "stories",
          include: ["packages/*/test/**/*.e2e.test.ts"],
          // What a story waits for has deadlines of its own; these end what hangs, on a busy machine too.
          testTimeout: 600_000,
          hookTimeout: 300_000,
          maxWorkers,
        },
      },
      {
        test: {
          name: "browser",
          include: ["packages/*/test/**/*.browser.test.ts"],
          testTimeout: 240_000,
          hookTimeout: 300_000,
          maxWorkers,
        },
      },
    ],
  },
});
