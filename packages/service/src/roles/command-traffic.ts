/** The limits of nodes in a command. */
import { createTrafficOf, type TrafficOf } from "./node-traffic.ts";
import { systemClock, systemRandom } from "./system-ports.ts";

/** Returns limits that keep the rate of each node, and count nothing: a command sends few requests. */
export function createCommandTraffic(): TrafficOf {
  return createTrafficOf({ clock: systemClock, random: systemRandom });
}
