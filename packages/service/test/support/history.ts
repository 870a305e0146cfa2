import { expect } from "vitest";
import type { World } from "./world.ts";

/** What an integrator saw of a settlement: each change goes on where the one before ended, and nothing came twice. */
export async function expectUnbroken(world: World, id: string): Promise<void> {
  const events = await world.statusEvents(id);
  const statuses = events.map(({ status }) => status);
  expect(events.slice(1).map(({ prevStatus }) => prevStatus)).toEqual(statuses.slice(0, -1));
  expect(statuses.filter((status) => status === "completed")).toHaveLength(1);
}
