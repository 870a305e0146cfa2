import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { expect, test } from "vitest";

/** Keeps some of many new objects, as a busy service does, and prints the size of their space in MiB. */
const PROGRAM = `
  import { getHeapSpaceStatistics } from "node:v8";
  if (process.argv[1] === "limited") (await import(process.argv[2])).limitHeap();
  const kept = [];
  for (let turn = 0; turn < 100; turn += 1) {
    for (let place = 0; place < 100_000; place += 1) kept[place] = { place, of: [turn] };
    await new Promise((resolve) => setImmediate(resolve));
  }
  const space = getHeapSpaceStatistics().find((one) => one.space_name === "new_space");
  console.log(Math.round(space.space_size / 2 ** 20));
`;

test("the space of new objects stops growing", async () => {
  const path = new URL("heap.ts", import.meta.url).href;
  const sizeOf = async (kind: string) => {
    const args = ["--input-type=module", "--eval", PROGRAM, kind, path];
    const { stdout } = await promisify(execFile)(process.execPath, args);
    return Number(stdout);
  };
  const [limited, own] = await Promise.all([sizeOf("limited"), sizeOf("unlimited")]);
  expect(limited).toBeLessThanOrEqual(32);
  // On a machine with little memory V8's own limit is no higher.
  expect(own).toBeGreaterThanOrEqual(limited);
});
