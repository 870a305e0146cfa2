/** Reorgs on real nodes down to the oldest block that is not final: each deposit is delivered exactly once. */
import { afterAll, beforeAll, test } from "vitest";
import { expectDeliveredAfterReorganisations, STAGES } from "./support/recovery.ts";
import { openWorld, type World } from "./support/world.ts";

let world: World;

beforeAll(async () => {
  // The final block is eight behind the head.
  world = await openWorld({ slotsInAnEpoch: 4 });
});
afterAll(async () => {
  await world.close();
});

/** Every depth at every stage; in every other case the service is killed before the reorg. */
const REORGANISATIONS = Array.from({ length: 8 }, (_, index) => index + 1).flatMap((depth) =>
  [STAGES.detected, STAGES.swept, STAGES.delivered].map((stage, position) => ({
    depth,
    stage,
    dies: (depth + position) % 2 === 0,
  })),
);

test(
  "each deposit is delivered once after reorgs of depth 1 to 8 at every stage, with and without kill -9 [T44, T65]",
  { timeout: 900_000 },
  () => expectDeliveredAfterReorganisations(world, REORGANISATIONS),
);
