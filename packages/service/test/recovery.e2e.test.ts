/** One crash and one reorganisation on real nodes; `crashes` and `reorgs` play every one of them. */
import { afterAll, beforeAll, test } from "vitest";
import {
  expectDeliveredAfterCrash,
  expectDeliveredAfterReorganisations,
  STAGES,
} from "./support/recovery.ts";
import { openWorld, type World } from "./support/world.ts";

let world: World;

beforeAll(async () => {
  // Final is eight behind the head.
  world = await openWorld({ slotsInAnEpoch: 4 });
});
afterAll(async () => {
  await world.close();
});

test("kill -9 after a sweep was sent and before that was recorded: the deposit is delivered once", () =>
  expectDeliveredAfterCrash(world, "sweep.sent"));

test("the last five blocks leave the chain after a deposit was swept: it is delivered once", () =>
  expectDeliveredAfterReorganisations(world, [{ depth: 5, stage: STAGES.swept, dies: false }]));
