import { expect, test } from "vitest";
import { DELIVERY_STATES, type DeliveryState, ENDED_STATES, mayMove } from "./lifecycle.ts";

/** Every move of a delivery; what is not here never happens. */
const MOVES: readonly (readonly [DeliveryState, DeliveryState])[] = [
  ["locked", "delivered"],
  ["locked", "returning"],
  ["locked", "returned"],
  ["locked", "taken_back"],
  ["delivered", "claiming"],
  // The delivery's block left the chain.
  ["delivered", "locked"],
  ["claiming", "claimed"],
  // The claim failed and is planned anew.
  ["claiming", "delivered"],
  ["claiming", "locked"],
  ["returning", "returned"],
  ["returning", "taken_back"],
  ["returning", "locked"],
];

test("a delivery moves only as it was decided, and what ended never moves again", () => {
  const allowed = DELIVERY_STATES.flatMap((from) =>
    DELIVERY_STATES.filter((to) => mayMove(from, to)).map((to) => `${from} -> ${to}`),
  );
  expect(allowed.toSorted()).toEqual(MOVES.map(([from, to]) => `${from} -> ${to}`).toSorted());
  const stays = DELIVERY_STATES.filter((from) => !DELIVERY_STATES.some((to) => mayMove(from, to)));
  expect(stays.toSorted()).toEqual([...ENDED_STATES].toSorted());
});

test("inventory is claimed only after its payment was seen, and given back only where it was not", () => {
  const before = (state: DeliveryState) => DELIVERY_STATES.filter((from) => mayMove(from, state));
  expect(before("claiming")).toEqual(["delivered"]);
  expect(before("claimed")).toEqual(["claiming"]);
  expect(before("returning")).toEqual(["locked"]);
  expect(before("returned")).toEqual(["locked", "returning"]);
});
