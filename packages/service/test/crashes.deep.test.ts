/** `kill -9` of the service wherever a lost record would cost money: each deposit is delivered exactly once. */
import { afterAll, beforeAll, describe, test } from "vitest";
import { expectDeliveredAfterCrash } from "./support/recovery.ts";
import { openWorld, type World } from "./support/world.ts";

let world: World;

beforeAll(async () => {
  // Only the end of each case matters, so blocks may come fast.
  world = await openWorld({ blockMs: 100 });
});
afterAll(async () => {
  await world.close();
});

/** Crash points between each two steps, from the block of the deposit to the claim of its lock. */
const POINTS = [
  ["scan.arrived", "the deposit is recorded, its block is not"],
  ["scan.pushed", "the block is recorded"],
  ["attest.judged", "signed, not answered"],
  ["attest.answered", "answered, no loop woken"],
  ...["sweep", "deliver", "claim"].flatMap((effect) => [
    [`${effect}.assigned`, "it has a nonce, and is not signed"],
    [`${effect}.signed`, "signed and committed, not sent [T60]"],
    [`${effect}.sent`, "sent, not recorded [T59]"],
    [`${effect}.mined`, "mined, not recorded [T59]"],
    [`${effect}.recorded`, "recorded, no loop woken"],
  ]),
];

describe("kill -9", () => {
  test.each(POINTS)("at %s (%s): delivers exactly once after a restart", (point) =>
    expectDeliveredAfterCrash(world, point),
  );
});
