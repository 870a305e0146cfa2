import { RATE_SCALE } from "../core/amounts.ts";
import type { Route } from "./port.ts";

/** What a route says of inventory that pays nothing out of it: there is nothing to set aside, and nothing is lacking. */
export const WITHOUT_INVENTORY: Pick<
  Route,
  "readInventory" | "judgeInventory" | "reserve" | "release"
> = {
  readInventory: async () => ({ reserved: 0n, balance: 0n, capLeft: 0n, rate: RATE_SCALE }),
  judgeInventory: () => "reserved",
  reserve: async () => "reserved",
  release: async () => {},
};
