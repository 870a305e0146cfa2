/** Whether the database knows what its lanes have done. */
import { expect, test } from "vitest";
import { judgeNonces } from "./lanes.ts";

test.each([
  ["a new account in a new database", 0, null, "ok"],
  ["every transaction known", 7, { next: 7, first: 0 }, "ok"],
  ["some not mined yet", 7, { next: 9, first: 0 }, "ok"],
  ["registered and unused", 0, { next: 0, first: null }, "ok"],
  ["an empty database", 7, null, "problem"],
  ["a backup", 7, { next: 5, first: 0 }, "problem"],
  ["an empty database whose service has run", 7, { next: 7, first: null }, "warning"],
  ["an account that was used before", 9, { next: 9, first: 7 }, "warning"],
] as const)("%s", (_, used, known, status) => {
  expect(judgeNonces(used, known)).toMatchObject({ status });
});

test("says what is missing", () => {
  expect(judgeNonces(7, null).found).toBe("7 transactions on the chain, none in the database");
  expect(judgeNonces(7, { next: 5, first: 0 }).found).toBe(
    "7 transactions on the chain, 5 in the database",
  );
  expect(judgeNonces(9, { next: 9, first: 7 }).found).toBe("the first 7 are missing");
});
