import { expect, test } from "vitest";
import { DELIVERY_STATES, type DeliveryState, ENDED_STATES, mayMove } from "./lifecycle.ts";

/** All allowed transitions of a delivery. */
const MOVES: readonly (readonly [DeliveryState, DeliveryState])[] = [
  ["locked", "delivered"],
  ["locked", "returning"],
  ["locked", "returned"],
  ["locked", "taken_back"],
  ["delivered", "claiming"],
  // The delivery's block was orphaned.
  ["delivered", "locked"],
  ["claiming", "claimed"],
  // The claim failed and is planned again.
  ["claiming", "delivered"],
  ["claiming", "locked"],
  ["returning", "returned"],
  ["returning", "taken_back"],
  ["returning", "locked"],
];

test("a delivery makes only the listed transitions, and a terminal state never changes", () => {
  const allowed = DELIVERY_STATES.flatMap((from) =>
    DELIVERY_STATES.filter((to) => mayMove(from, to)).map((to) => `${from} -> ${to}`),
  );
  expect(allowed.toSorted()).toEqual(MOVES.map(([from, to]) => `${from} -> ${to}`).toSorted());
  const stays = DELIVERY_STATES.filter((from) => !DELIVERY_STATES.some((to) => mayMove(from, to)));
  expect(stays.toSorted()).toEqual([...ENDED_STATES].toSorted());
});

test("a lock is claimed only after its payout was seen, and returned only when it was not", () => {
  const before = (state: DeliveryState) => DELIVERY_STATES.filter((from) => mayMove(from, state));
  expect(before("claiming")).toEqual(["delivered"]);
  expect(before("claimed")).toEqual(["claiming"]);
  expect(before("returning")).toEqual(["locked"]);
  expect(before("returned")).toEqual(["locked", "returning"]);
});
