/** All paths through the 51 bytes of a deposit address, for every implementation, call and outcome. */
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { explore, type Path } from "./symbolic.ts";

const source = readFileSync(new URL("../src/types/WalletProxy.sol", import.meta.url), "utf8");
const [init = "", head = "", tail = ""] = [...source.matchAll(/hex"([0-9a-f]+)"/g)].map(
  ([, hex]) => hex,
);
const IMPLEMENTATION = "00".repeat(20);
const RUNTIME = Buffer.from(`${head}${IMPLEMENTATION}${tail}`, "hex");
/** The push of the implementation. */
const PUSH_AT = Buffer.from(head, "hex").length - 1;
const PATHS = explore(RUNTIME, new Map([[PUSH_AT, "implementation"]]));

const CALLDATA = { kind: "copy", of: "calldata", args: [0n, 0n, "calldatasize"] };
const DELEGATION = {
  kind: "delegatecall",
  args: [expect.stringMatching(/^gas/), "implementation", 0n, "calldatasize", 0n, 0n],
  result: "result 1",
};
const RETURNED = { kind: "copy", of: "returndata", args: [0n, 0n, "returndatasize 1"] };

function pathOf(assumed: Path["assumed"]): Path[] {
  return PATHS.filter((path) =>
    Object.entries(assumed).every(([name, value]) => path.assumed[name] === value),
  );
}

test("the proxy has 51 bytes, and its creation code returns exactly them", () => {
  expect(RUNTIME).toHaveLength(51);
  expect(explore(Buffer.concat([Buffer.from(init, "hex"), RUNTIME]))).toEqual([
    {
      assumed: {},
      effects: [{ kind: "copy", of: "code", args: [0n, 10n, 51n] }],
      end: { kind: "return", args: [0n, 51n] },
    },
  ]);
  expect(Buffer.from(init, "hex")).toHaveLength(10);
});

test("without calldata the proxy stops and does nothing", () => {
  expect(pathOf({ calldatasize: "zero" })).toEqual([
    { assumed: { calldatasize: "zero" }, effects: [], end: { kind: "stop", args: [] } },
  ]);
});

test("every other call reaches the implementation, once and unchanged, and nothing else", () => {
  const effects = [CALLDATA, DELEGATION, RETURNED];
  const calldatasize = "not zero";
  expect(pathOf({ calldatasize })).toEqual([
    {
      assumed: { calldatasize, "result 1": "not zero" },
      effects,
      end: { kind: "return", args: [0n, "returndatasize 1"] },
    },
    {
      assumed: { calldatasize, "result 1": "zero" },
      effects,
      end: { kind: "revert", args: [0n, "returndatasize 1"] },
    },
  ]);
  expect(PATHS).toHaveLength(3);
});

test("a proxy with another byte is not proved", () => {
  for (const [index] of RUNTIME.entries()) {
    if (index > PUSH_AT && index <= PUSH_AT + 20) continue;
    const other = Buffer.from(RUNTIME);
    other[index] = (other[index] ?? 0) ^ 0x01;
    const seen = (() => {
      try {
        return explore(other, new Map([[PUSH_AT, "implementation"]]));
      } catch {
        return null;
      }
    })();
    expect(seen, `byte ${index}`).not.toEqual(PATHS);
  }
});
