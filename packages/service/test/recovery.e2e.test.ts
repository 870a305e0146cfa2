/** One crash and one reorg on real nodes; `crashes.deep` and `reorgs.deep` run all of them. */
import { afterAll, beforeAll, test } from "vitest";
import {
  expectDeliveredAfterCrash,
  expectDeliveredAfterReorganisations,
  STAGES,
} from "./support/recovery.ts";
import { openWorld, type World } from "./support/world.ts";

let world: World;

beforeAll(async () => {
  // The final block is eight behind the head.
  world = await openWorld({ slotsInAnEpoch: 4 });
});
afterAll(async () => {
  await world.close();
});

test("delivers once after kill -9 between sending and recording a sweep", () =>
  expectDeliveredAfterCrash(world, "sweep.sent"));

test("delivers once after a reorg of five blocks that contained the sweep", () =>
  expectDeliveredAfterReorganisations(world, [{ depth: 5, stage: STAGES.swept, dies: false }]));
