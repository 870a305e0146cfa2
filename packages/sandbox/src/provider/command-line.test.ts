import { expect, test } from "vitest";
import { parseCommandLine } from "./command-line.ts";

const UPSTREAM = "http://127.0.0.1:8545";

test("options override the limits of the profile, and none removes one", () => {
  const args = `--upstream ${UPSTREAM} --profile drpc-like --latency 80 --rate none --batch off --drop 0.1 --no-method a,b --listen [::1]:0`;
  expect(parseCommandLine(args.split(" "))).toEqual({
    upstream: UPSTREAM,
    host: "::1",
    port: 0,
    profile: "drpc-like",
    latencyMs: 80,
    ratePerSecond: null,
    batchItems: 0,
    drop: 0.1,
    missingMethods: ["a", "b"],
  });
});

test.each([
  ["", "--upstream: expected the URL of a node"],
  ["--upstream x", "--upstream: expected the URL of a node"],
  [`--upstream ${UPSTREAM} --drop 2`, "--drop 2: expected a probability from 0 to 1"],
  [`--upstream ${UPSTREAM} --lag none`, "--lag none: expected a number from 0"],
  [`--upstream ${UPSTREAM} --profile x`, "--profile x: expected one of alchemy-like"],
  [`--upstream ${UPSTREAM} --listen 8600`, "--listen 8600: expected HOST:PORT"],
  [`--upstream ${UPSTREAM} --colour`, "run sluice-provider --help"],
])("%j is refused by name", (args, message) => {
  expect(() => parseCommandLine(args.split(" ").filter((arg) => arg !== ""))).toThrow(message);
});
