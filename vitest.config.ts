import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    projects: [
      {
        test: {
          name: "tidy",
          include: ["scripts/**/*.test.ts"],
        },
      },
      {
        test: {
          name: "unit",
          include: ["packages/*/src/**/*.test.ts"],
          globalSetup: ["packages/service/test/support/global-setup.ts"],
          testTimeout: 30_000,
          hookTimeout: 60_000,
        },
      },
      {
        test: {
          name: "stories",
          include: ["packages/*/test/**/*.e2e.test.ts"],
          testTimeout: 240_000,
          hookTimeout: 120_000,
          // Each story runs its own nodes and its own service: one at a time on a small machine.
          fileParallelism: false,
        },
      },
      {
        test: {
          name: "browser",
          include: ["packages/*/test/**/*.browser.test.ts"],
          testTimeout: 120_000,
          hookTimeout: 120_000,
          fileParallelism: false,
        },
      },
    ],
  },
});
