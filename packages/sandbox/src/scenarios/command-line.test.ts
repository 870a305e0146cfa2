import { describe, expect, test } from "vitest";
import { parseCommandLine } from "../command-line.ts";
import { SandboxError } from "../errors.ts";
import { PLAY_HELP } from "./command-line.ts";
import { SCENARIO_NAMES } from "./table.ts";

describe("the command line of play", () => {
  test("names a scenario; the rest has defaults", () => {
    expect(parseCommandLine(["play", "dust", "--state-dir", "/tmp/x"])).toEqual({
      kind: "play",
      stateDir: "/tmp/x",
      name: "dust",
      timeoutMs: 180_000,
    });
  });

  test("accepts an address and a timeout", () => {
    const args = "play dust --address 0x1 --timeout 9 --state-dir /tmp/x".split(" ");
    expect(parseCommandLine(args)).toMatchObject({ depositAddress: "0x1", timeoutMs: 9_000 });
  });

  test("prints a help that lists every scenario", () => {
    expect(parseCommandLine(["play", "--help"])).toEqual({ kind: "help", text: PLAY_HELP });
    expect(SCENARIO_NAMES.filter((name) => !PLAY_HELP.includes(`  ${name} `))).toEqual([]);
  });

  test.each([
    [["play"], /^scenario "": expected one of deposit-delivered, /],
    [["play", "storm"], /^scenario "storm": expected one of deposit-delivered, /],
    [["play", "dust", "dust"], /^dust: expected one scenario; run npm run play -- --help$/],
    [["play", "dust", "--timeout", "0"], /^--timeout 0: expected seconds from 1 to 3600$/],
    [["play", "dust", "--adress", "x"], /^Unknown option '--adress': run npm run play -- --help$/],
  ])("rejects %j with a one-line error", (args, message) => {
    expect(() => parseCommandLine(args)).toThrow(SandboxError);
    expect(() => parseCommandLine(args)).toThrow(message);
  });
});
