import { describe, expect, test } from "vitest";
import { AddressInputError } from "./encoding.ts";
import { isRouteProven, proofOfRoute, ROUTE_SET_MAX, rootOfRoutes } from "./route-set.ts";

const LEAF = { evmChainId: 1, route: `0x${"ab".repeat(20)}` };
const OTHER = { evmChainId: 8453, route: `0x${"ab".repeat(20)}` };

describe("a set of routes", () => {
  test("of one route has an empty proof, and its root is the leaf", () => {
    expect(proofOfRoute([LEAF], LEAF)).toEqual([]);
    expect(isRouteProven(rootOfRoutes([LEAF]), LEAF, [])).toBe(true);
  });

  test("does not prove a route of another chain", () => {
    const root = rootOfRoutes([LEAF]);
    expect(isRouteProven(root, OTHER, [])).toBe(false);
    expect(isRouteProven(root, OTHER, [root])).toBe(false);
  });

  test("names the route that it does not hold", () => {
    expect(() => proofOfRoute([LEAF], OTHER)).toThrow("route: expected a route of the set");
  });

  test.each([
    ["an empty set", []],
    ["a route that occurs twice", [LEAF, LEAF]],
    ["a set of too many routes", Array.from({ length: ROUTE_SET_MAX + 1 }, () => LEAF)],
    ["a route that is no address", [{ evmChainId: 1, route: "0x00" }]],
  ])("refuses %s", (_, leaves) => {
    expect(() => rootOfRoutes(leaves)).toThrow(AddressInputError);
  });
});
