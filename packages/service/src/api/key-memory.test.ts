import { expect, test } from "vitest";
import { createStillClock } from "../../test/support/doubles.ts";
import { PEPPER } from "../../test/support/tenants.ts";
import { createKeyMemory } from "./key-memory.ts";

const KEY = "5e2f8a3c-0000-4000-8000-00000000000A";
const HOUR_MS = 3_600_000;

test("remembers a valid key of an address for an hour, in any spelling", () => {
  const clock = createStillClock();
  const keys = createKeyMemory({ clock, pepper: PEPPER });
  expect(keys.present(KEY).recall()).toBeUndefined();
  keys.present(KEY).remember({ keyId: "one", address: "203.0.113.1" });
  expect(keys.present(KEY.toLowerCase()).recall()).toBe("one");
  expect(keys.present(KEY).wasValidFrom("203.0.113.1")).toBe(true);
  expect(keys.present(KEY).wasValidFrom("203.0.113.2")).toBe(false);
  clock.advance(HOUR_MS - 1);
  // Another address does not prolong the first one.
  keys.present(KEY).remember({ keyId: "one", address: "203.0.113.2" });
  clock.advance(1);
  expect(keys.present(KEY).wasValidFrom("203.0.113.1")).toBe(false);
  expect(keys.present(KEY).wasValidFrom("203.0.113.2")).toBe(true);
  clock.advance(HOUR_MS);
  expect(keys.present(KEY).recall()).toBeUndefined();
});

test("forgets a key that is no longer valid, and knows no value that is not a string", () => {
  const keys = createKeyMemory({ clock: createStillClock(), pepper: PEPPER });
  keys.present(KEY).remember({ keyId: "one", address: "a" });
  keys.present(KEY).forget();
  expect(keys.present(KEY).recall()).toBeUndefined();
  expect(keys.present(["x"]).wasValidFrom("a")).toBe(false);
});

test("is bounded: the latest addresses of a key, and the latest keys", () => {
  const keys = createKeyMemory({ clock: createStillClock(), pepper: PEPPER });
  for (let n = 0; n <= 50; n++) keys.present(KEY).remember({ keyId: "one", address: `a${n}` });
  expect(keys.present(KEY).wasValidFrom("a0")).toBe(false);
  expect(keys.present(KEY).wasValidFrom("a1")).toBe(true);
  for (let n = 0; n < 10_000; n++)
    keys.present(`key ${n}`).remember({ keyId: `${n}`, address: "b" });
  expect(keys.present(KEY).recall()).toBeUndefined();
  expect(keys.present("key 0").recall()).toBe("0");
});
