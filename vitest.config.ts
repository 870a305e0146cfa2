import { defineConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";
import { findChromium } from "./packages/service/test/support/chromium.ts";

/** Test files at once, of whatever project: most of a story is waiting for blocks. */
const maxWorkers = 4;

/** Files share a worker's modules: to load them for each file takes longer than most files. */
const isolate = false;

/** What a test polls for may take its time on a busy machine; by default Vitest gives it a second. */
const expect = { poll: { timeout: 60_000 } };

/** Has the PostgreSQL on which `createTestDatabase` copies databases. */
const globalSetup = ["packages/service/test/support/global-setup.ts"];

/** Whatever takes too long for `npm test`, by its name. */
const deep = "{packages/*/{src,test,proofs},scripts,examples}/**/*.deep.test.ts";

/** Files that take longest, in their order: one that begins last runs alone at the end, while a processor is idle. */
const LONGEST = [
  "providers.deep",
  "rehearsal.deep",
  "installed.deep",
  "simulation.deep",
  "exchange.deep",
  "faults.browser.deep",
  "refills.browser.deep",
  "plans.deep",
  "early.deep",
  "reorgs.deep",
  "solana-crashes.deep",
  "bridge.deep",
  "crashes.deep",
  "hostile-tokens.deep",
  "returned-lock.deep",
  "laws.deep",
];

/**
 * Puts the longest files first also on a machine that has no times of its own. Projects run in the order of their names, and the
 * other files of each by what they took last time.
 */
class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const placeOf = ({ moduleId }: TestSpecification) => {
      const place = LONGEST.findIndex((name) => moduleId.endsWith(`/${name}.test.ts`));
      return place === -1 ? LONGEST.length : place;
    };
    return (await super.sort(files)).toSorted((one, other) => placeOf(one) - placeOf(other));
  }
}

export default defineConfig({
  test: {
    sequence: { sequencer: LongestFirst },
    projects: [
      {
        test: {
          name: "deep",
          include: [deep],
          exclude: findChromium() === null ? ["**/*.browser.deep.test.ts"] : [],
          globalSetup,
          testTimeout: 600_000,
          hookTimeout: 300_000,
          expect,
          isolate,
          // One fewer: its stories wait with deadlines, and the simulation takes two.
          maxWorkers: maxWorkers - 1,
        },
      },
      {
        test: {
          name: "stories",
          include: ["packages/*/test/**/*.e2e.test.ts"],
          // What a story waits for has deadlines of its own; these end what hangs, on a busy machine too.
          testTimeout: 600_000,
          hookTimeout: 300_000,
          expect,
          isolate,
          maxWorkers,
        },
      },
      {
        test: {
          name: "tidy",
          include: ["scripts/**/*.test.ts"],
          exclude: [deep],
          isolate,
          maxWorkers,
        },
      },
      {
        test: {
          name: "unit",
          include: [
            "packages/*/src/**/*.test.ts",
            "packages/contracts/proofs/**/*.test.ts",
            "examples/**/*.test.ts",
          ],
          exclude: [deep],
          globalSetup,
          testTimeout: 180_000,
          hookTimeout: 120_000,
          expect,
          isolate,
          maxWorkers,
        },
      },
    ],
  },
});
