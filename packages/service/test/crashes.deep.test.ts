/** `kill -9` of the service at the points where forgetting would cost money: each deposit is delivered exactly once. */
import { afterAll, beforeAll, describe, test } from "vitest";
import { expectDeliveredAfterCrash } from "./support/recovery.ts";
import { openWorld, type World } from "./support/world.ts";

let world: World;

beforeAll(async () => {
  // What is looked at is how each case ends, so it may come soon.
  world = await openWorld({ blockMs: 100 });
});
afterAll(async () => {
  await world.close();
});

/** Between each pair of steps, from the block that brings the deposit to the claim of its lock. */
const POINTS = [
  ["scan.arrived", "the deposit is recorded, its block is not"],
  ["scan.pushed", "the block is recorded"],
  ["attest.judged", "signed, not answered"],
  ["attest.answered", "answered, nobody woken"],
  ...["deploy", "sweep", "deliver", "claim"].flatMap((effect) => [
    [`${effect}.assigned`, "it has its nonce and no bytes"],
    [`${effect}.signed`, "T60 signed and committed, not sent"],
    [`${effect}.sent`, "T59 sent, not recorded"],
    [`${effect}.mined`, "T59 mined, not recorded"],
    [`${effect}.recorded`, "recorded, nobody woken"],
  ]),
];

describe("kill -9", () => {
  test.each(POINTS)("at %s (%s), then a start, delivers exactly once", (point) =>
    expectDeliveredAfterCrash(world, point),
  );
});
