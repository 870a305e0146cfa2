import { errorsAbi } from "@sluice/contracts/abi";
import { expect, test } from "vitest";
import { CONTRACT_VERDICTS, PROGRAM_VERDICTS, verdictOnRevert } from "../port/index.ts";

test("every error of the contracts has a verdict, and no verdict is of another error [T153]", () => {
  const names = new Set(errorsAbi.map(({ name }) => name));
  expect(Object.keys(CONTRACT_VERDICTS).toSorted()).toEqual([...names].toSorted());
});

test("no error of a program has the name of a contract's error", () => {
  const both = Object.keys(PROGRAM_VERDICTS).filter((name) => name in CONTRACT_VERDICTS);
  expect(both).toEqual([]);
});

test("the reasons of a token or pool that reverts by itself count as attempts", () => {
  for (const reason of ["reverted", "gas", "EnforcedPause", "Custom6001"]) {
    expect(verdictOnRevert(reason)).toBe("attempt");
  }
});
