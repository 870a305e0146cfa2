import { expect, test } from "vitest";
import { PROGRAM_VERDICTS } from "../port/index.ts";
import { FAILURE_NAMES } from "./failures.ts";

test("every named error of the programs has a verdict, and no verdict is of another error [T153]", () => {
  expect(Object.keys(PROGRAM_VERDICTS).toSorted()).toEqual([...new Set(FAILURE_NAMES)].toSorted());
});
