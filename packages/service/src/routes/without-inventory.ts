import { RATE_SCALE } from "../core/amounts.ts";
import type { Route } from "./port.ts";

/** Inventory methods of a route that pays nothing from inventory: every reservation succeeds and reserves nothing. */
export const WITHOUT_INVENTORY: Pick<
  Route,
  "readInventory" | "readCapacity" | "judgeInventory" | "reserves" | "reserve" | "release"
> = {
  readInventory: async () => ({ reserved: 0n, balance: 0n, capLeft: 0n, rate: RATE_SCALE }),
  readCapacity: async () => null,
  judgeInventory: () => "reserved",
  reserves: null,
  reserve: async () => "reserved",
  release: async () => {},
};
