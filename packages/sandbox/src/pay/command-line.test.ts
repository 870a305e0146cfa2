import { describe, expect, test } from "vitest";
import { parseCommandLine } from "../command-line.ts";
import { SandboxError } from "../errors.ts";
import { PAY_HELP } from "./command-line.ts";

const PAY = "pay --from ethereum --token USDC --amount 25 --to base".split(" ");

describe("the command line of pay", () => {
  test("names chains, token and amount; the rest has defaults", () => {
    expect(parseCommandLine([...PAY, "--state-dir", "/tmp/x"])).toEqual({
      kind: "pay",
      stateDir: "/tmp/x",
      request: { from: "ethereum", token: "USDC", amount: "25", to: "base", timeoutMs: 120_000 },
    });
  });

  test("accepts every option", () => {
    const more = "--to-token ETH --recipient 0x1 --timeout 9 --state-dir /tmp/x".split(" ");
    expect(parseCommandLine([...PAY, ...more])).toMatchObject({
      request: { toToken: "ETH", recipient: "0x1", timeoutMs: 9_000 },
    });
  });

  test("prints its own help", () => {
    expect(parseCommandLine(["pay", "--help"])).toEqual({ kind: "help", text: PAY_HELP });
  });

  test.each([
    [["--from"], "--from is missing: expected a chain; run npm run pay -- --help"],
    [["--amount"], "--amount is missing: expected an amount; run npm run pay -- --help"],
  ])("names the missing option %j", ([option], message) => {
    const at = PAY.indexOf(option ?? "");
    const args = PAY.filter((_, index) => index !== at && index !== at + 1);
    expect(() => parseCommandLine(args)).toThrow(new SandboxError(message));
  });

  test.each(["0", "-1", "1e3", "0.00", "1,5", "x", "."])("rejects the amount %s", (amount) => {
    const args = PAY.map((arg) => (arg === "25" ? amount : arg));
    expect(() => parseCommandLine(args)).toThrow(SandboxError);
  });

  test.each([
    [["--timeout", "0"], "--timeout 0: expected seconds from 1 to 86400"],
    [["--frm", "x"], "Unknown option '--frm': run npm run pay -- --help"],
  ])("rejects %j with a one-line error", (args, message) => {
    expect(() => parseCommandLine([...PAY, ...args])).toThrow(new SandboxError(message));
  });
});
