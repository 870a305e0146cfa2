/** Reorganisations of real nodes, up to the last block that is not final: each deposit is delivered exactly once. */
import { afterAll, beforeAll, test } from "vitest";
import { expectDeliveredAfterReorganisations, STAGES } from "./support/recovery.ts";
import { openWorld, type World } from "./support/world.ts";

let world: World;

beforeAll(async () => {
  // Final is eight behind the head.
  world = await openWorld({ slotsInAnEpoch: 4 });
});
afterAll(async () => {
  await world.close();
});

/** Every depth at every stage, and every other time the service dies before the blocks go. */
const REORGANISATIONS = Array.from({ length: 8 }, (_, index) => index + 1).flatMap((depth) =>
  [STAGES.detected, STAGES.swept, STAGES.delivered].map((stage, position) => ({
    depth,
    stage,
    dies: (depth + position) % 2 === 0,
  })),
);

test(
  "T44 T65 reorganisations of depth 1 to 8 at every stage, with and without kill -9: each deposit is delivered once",
  { timeout: 900_000 },
  () => expectDeliveredAfterReorganisations(world, REORGANISATIONS),
);
