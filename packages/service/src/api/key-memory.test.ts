import { expect, test } from "vitest";
import { createStillClock } from "../../test/support/doubles.ts";
import { PEPPER } from "../../test/support/tenants.ts";
import { createKeyMemory } from "./key-memory.ts";

const KEY = "5e2f8a3c-0000-4000-8000-00000000000A";
const HOUR_MS = 3_600_000;

test("remembers a valid key of an address for an hour, in any spelling", () => {
  const clock = createStillClock();
  const keys = createKeyMemory({ clock, pepper: PEPPER });
  expect(keys.recall(KEY)).toBeUndefined();
  keys.remember(KEY, { keyId: "one", address: "203.0.113.1" });
  expect(keys.recall(KEY.toLowerCase())).toBe("one");
  expect(keys.wasValidFrom(KEY, "203.0.113.1")).toBe(true);
  expect(keys.wasValidFrom(KEY, "203.0.113.2")).toBe(false);
  clock.advance(HOUR_MS - 1);
  // Another address does not prolong the first one.
  keys.remember(KEY, { keyId: "one", address: "203.0.113.2" });
  clock.advance(1);
  expect(keys.wasValidFrom(KEY, "203.0.113.1")).toBe(false);
  expect(keys.wasValidFrom(KEY, "203.0.113.2")).toBe(true);
  clock.advance(HOUR_MS);
  expect(keys.recall(KEY)).toBeUndefined();
});

test("forgets a key that is no longer valid, and knows no value that is not a string", () => {
  const keys = createKeyMemory({ clock: createStillClock(), pepper: PEPPER });
  keys.remember(KEY, { keyId: "one", address: "a" });
  keys.forget(KEY);
  expect(keys.recall(KEY)).toBeUndefined();
  expect(keys.wasValidFrom(["x"], "a")).toBe(false);
});

test("is bounded: the latest addresses of a key, and the latest keys", () => {
  const keys = createKeyMemory({ clock: createStillClock(), pepper: PEPPER });
  for (let n = 0; n <= 50; n++) keys.remember(KEY, { keyId: "one", address: `a${n}` });
  expect(keys.wasValidFrom(KEY, "a0")).toBe(false);
  expect(keys.wasValidFrom(KEY, "a1")).toBe(true);
  for (let n = 0; n < 10_000; n++) keys.remember(`key ${n}`, { keyId: `${n}`, address: "b" });
  expect(keys.recall(KEY)).toBeUndefined();
  expect(keys.recall("key 0")).toBe("0");
});
