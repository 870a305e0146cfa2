import { expect } from "vitest";
import type { World } from "./world.ts";

/** Checks an integrator's events of a settlement: each change starts at the status of the one before, without duplicates. */
export async function expectUnbroken(world: World, id: string): Promise<void> {
  const events = await world.statusEvents(id);
  const statuses = events.map(({ status }) => status);
  expect(events.slice(1).map(({ prevStatus }) => prevStatus)).toEqual(statuses.slice(0, -1));
  expect(statuses.filter((status) => status === "completed")).toHaveLength(1);
}
