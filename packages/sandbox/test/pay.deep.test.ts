/** Runs `npm run pay` against a running sandbox: every kind of token of both families, and its exit codes. */
import { execFile } from "node:child_process";
import { chmodSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import {
  type PayRequest,
  removeSandbox,
  runPayment,
  type Sandbox,
  startSandbox,
} from "@sluice/sandbox";
import { createSluiceClient } from "@sluice/sdk";
import { afterAll, beforeAll, describe, expect, test } from "vitest";

const MAIN = fileURLToPath(new URL("../src/main.ts", import.meta.url));
const TIMEOUT_MS = 400_000;

let stateDir: string;
let sandbox: Sandbox;

beforeAll(async () => {
  stateDir = mkdtempSync(join(tmpdir(), "sluice-pay-"));
  // The embedded PostgreSQL runs as `nobody` where the tests run as root.
  chmodSync(stateDir, 0o755);
  sandbox = await startSandbox({
    stateDir,
    ports: { ethereum: 0, base: 0, solana: 0, api: 0, quote: 0, telemetry: 0, control: 0 },
  });
});

afterAll(async () => {
  await sandbox?.stop();
  await removeSandbox(stateDir);
  rmSync(stateDir, { recursive: true, force: true });
});

/** Runs the command and returns its exit code and output. */
async function runCommand(...args: string[]) {
  try {
    const { stdout } = await promisify(execFile)(process.execPath, [MAIN, "pay", ...args]);
    return { code: 0, stdout, stderr: "" };
  } catch (error) {
    // CAST: the error of execFile, with the exit code and the output.
    return error as { code: number; stdout: string; stderr: string };
  }
}

const request = (from: string, token: string, amount: string, rest: Partial<PayRequest> = {}) => ({
  from,
  token,
  amount,
  to: from,
  timeoutMs: TIMEOUT_MS,
  ...rest,
});

describe("pay", () => {
  test("follows a deposit to its delivery, one line per event, and exits with 0", async () => {
    const args = "--from ethereum --token USDC --amount 25 --to base --timeout 400".split(" ");
    const { code, stdout } = await runCommand(...args, "--state-dir", stateDir);
    const steps = [...stdout.matchAll(/^ *\d+ ms {2}(\w+(?: \w+)*) {2,}(.*)$/gm)];
    expect(steps.map(([, step]) => step)).toEqual([
      "address issued",
      "expected",
      "paid",
      "deposit_detected",
      "status_changed",
      "status_changed",
      "status_changed",
      "status_changed",
      "delivered",
      "done",
    ]);
    expect(steps[7]?.[2]).toMatch(/^swapping -> completed, tx 0x[0-9a-f]{64}$/);
    expect(steps[8]?.[2]).toContain("24.975 USDC on base");
    expect(code).toBe(0);
  });

  test("pays native coins, wrapped coins and tokens on both families", async () => {
    const payments = [
      request("ethereum", "ETH", "0.5", { to: "base" }),
      request("base", "WETH", "0.25", { to: "ethereum", toToken: "USDC" }),
      request("solana", "SOL", "1.5"),
      request("solana", "WSOL", "1.5"),
      request("solana", "USDT", "3", { to: "base", toToken: "USDC" }),
      request("base", "USDC", "5", { to: "solana", toToken: "WSOL", timeoutMs: 1 }),
    ] as const;
    const { descriptor } = sandbox;
    const pay = (one: PayRequest) =>
      runPayment({ descriptor, request: one, onStep: () => undefined });
    const [eth, weth, sol, wsol, usdt, noRoute] = await Promise.allSettled(payments.map(pay));
    expect(eth).toMatchObject({ value: { delivered: 499_500_000_000_000_000n } });
    expect(weth).toMatchObject({ value: { paid: 250_000_000_000_000_000n } });
    expect(sol).toMatchObject({ value: { delivered: 1_498_500_000n } });
    expect(wsol).toMatchObject({ value: { delivered: 1_498_500_000n } });
    expect(usdt).toMatchObject({ value: { delivered: 2_997_000n } });
    expect(noRoute).toMatchObject({
      reason: { message: expect.stringContaining("the quote service refused: UNSUPPORTED_ROUTE") },
    });
  });

  test("says after the timeout how far the deposit got", async () => {
    const { descriptor } = sandbox;
    const paying = runPayment({
      descriptor,
      request: request("base", "USDC", "5", { timeoutMs: 1 }),
      onStep: () => undefined,
    });
    await expect(paying).rejects.toThrow("the deposit was not delivered within 0.001 s");
  });

  test("by several processes at once takes nonces of its own", async () => {
    const args = "--from ethereum --token USDC --amount 25 --to base --state-dir".split(" ");
    const made = await Promise.all(Array.from({ length: 4 }, () => runCommand(...args, stateDir)));
    expect(made.map(({ code, stderr }) => ({ code, stderr }))).toEqual(
      made.map(() => ({ code: 0, stderr: "" })),
    );
  });

  test.each([
    [
      "--from tron",
      /^sandbox: --from tron: unknown chain; expected one of ethereum, base, solana$/,
    ],
    ["--token DAI", /^sandbox: --token DAI: unknown token on ethereum; expected one of USDC, ETH/],
    ["--amount 0.5", /^sandbox: --amount 0.5: the minimum deposit on ethereum is 1 USDC$/],
    ["--amount 99999999", /has only \d+(\.\d+)? USDC on ethereum$/],
    ["--recipient 0x1", /VALIDATION_ERROR: destinationAddress: expected 0x and 40 hex digits/],
    ["--state-dir /nonexistent", /^sandbox: no sandbox is running on \/nonexistent: start one/],
  ])("exits with 1 and one line that names the fault of %s", async (fault, message) => {
    const valid = "--from ethereum --token USDC --amount 25 --to base".split(" ");
    // Of an option given twice the last one counts.
    const { code, stdout, stderr } = await runCommand(
      ...valid,
      "--state-dir",
      stateDir,
      ...fault.split(" "),
    );
    expect(stderr.trim()).toMatch(message);
    expect(stderr.trim().split("\n")).toHaveLength(1);
    // A busy machine takes seconds to find the fault, and a line says so.
    const said = stdout.replaceAll(/^ *\d+ ms {2}\.{3} .*\n/gm, "");
    expect({ code, said }).toEqual({ code: 1, said: "" });
  });

  test("finds in the descriptor every token that the service lists", async () => {
    const { chains, integrators } = sandbox.descriptor;
    const apiKey = integrators[0]?.apiKey ?? "";
    const listed = await createSluiceClient({ ...sandbox.descriptor, apiKey }).sourceConfig();
    for (const { name, tokens } of listed.chains) {
      const described = chains.find((chain) => chain.name === name);
      expect(described?.tokens).toHaveLength(tokens.length);
      for (const { minDeposit: _minimum, ...token } of tokens) {
        expect(described?.tokens).toContainEqual(token);
      }
    }
  });
});
