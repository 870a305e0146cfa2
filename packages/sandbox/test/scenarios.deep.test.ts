/** Plays scenarios on a real sandbox: nodes, contracts, database, service and receivers of webhooks. */
import { execFile } from "node:child_process";
import { chmodSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import {
  balanceOf,
  type PlayResult,
  removeSandbox,
  type Sandbox,
  SCENARIO_NAMES,
  SCENARIOS,
  startSandbox,
} from "@sluice/sandbox";
import { createSluiceClient } from "@sluice/sdk";
import { getAddress } from "viem";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { isSequence, readState } from "../src/scenarios/sequence.ts";

const MAIN = fileURLToPath(new URL("../src/main.ts", import.meta.url));
const UNIT = 1_000_000n;
const afterFee = (amount: bigint) => amount - amount / 1_000n;

/** Scenarios that are played here; the test of `examples/exchange` plays each of them, with a wallet of its own. */
const PLAYED = { "deposit-delivered": afterFee(25n * UNIT), "deposit-reorged": 0n } as const;

let stateDir: string;
let sandbox: Sandbox;

beforeAll(async () => {
  stateDir = mkdtempSync(join(tmpdir(), "sluice-scenarios-"));
  // The embedded PostgreSQL runs as `nobody` where the tests run as root.
  chmodSync(stateDir, 0o755);
  sandbox = await startSandbox({
    stateDir,
    mining: { intervalMs: 500 },
    ports: { ethereum: 0, base: 0, solana: 0, api: 0, quote: 0, telemetry: 0, control: 0 },
  });
});

afterAll(async () => {
  await sandbox?.stop();
  await removeSandbox(stateDir);
  rmSync(stateDir, { recursive: true, force: true });
});

const clientOf = (index: number) =>
  createSluiceClient({
    ...sandbox.descriptor,
    apiKey: sandbox.descriptor.integrators[index]?.apiKey ?? "",
  });

/** Returns the USDC that the recipient of an address has on base. */
async function readReceived({ depositAddress }: PlayResult): Promise<bigint> {
  for await (const { walletAddress, destWallet } of clientOf(0).iterateDepositAddresses()) {
    if (walletAddress !== depositAddress) continue;
    const { token } = sandbox.deployment.chains.base;
    return balanceOf(sandbox.chains.base.client, { owner: getAddress(destWallet), token });
  }
  throw new Error("the service lists the address");
}

const names = ["deposit-delivered", "deposit-reorged"] as const;
test.each(names)("%s ends with its documented events, and its delivery", async (name) => {
  const steps: string[] = [];
  const result = await sandbox.play(name, {
    timeoutMs: 400_000,
    onStep: (step, text) => steps.push(`${step} ${text}`),
  });
  expect(isSequence(SCENARIOS[name].events, result.events.map(readState))).toBe(true);
  const stamps = result.events.map(({ timestamp }) => timestamp);
  expect(stamps).toEqual([...new Set(stamps)].toSorted());
  const received = await readReceived(result);
  expect(String(received)).toBe(result.delivered);
  expect(received).toBe(PLAYED[name]);
  expect(steps.some((step) => step.startsWith("paid "))).toBe(true);
});

describe("the control endpoint", () => {
  const post = (name: string, body: string, headers: Record<string, string> = {}) =>
    fetch(`${sandbox.descriptor.controlUrl}/play/${name}`, {
      method: "POST",
      headers: { "content-type": "application/json", ...headers },
      body,
    });

  test("lists every scenario with its events", async () => {
    const response = await fetch(`${sandbox.descriptor.controlUrl}/scenarios`);
    const listed: { name: string; events: unknown }[] = JSON.parse(await response.text());
    expect(listed.map(({ name }) => name)).toEqual(SCENARIO_NAMES);
    expect(listed.map(({ events }) => events)).toEqual(
      SCENARIO_NAMES.map((name) => SCENARIOS[name].events),
    );
  });

  test("plays a scenario on an address of the integrator, line by line, for the command", async () => {
    const { quotes } = await clientOf(1).quote({
      amountIn64: "1000000",
      fromChain: "ethereum",
      fromToken: "USDC",
      toChain: "base",
      toToken: "USDC",
      slippageBps: "auto",
      destinationAddress: sandbox.keys.treasury.account.address,
      payDeposit: true,
    });
    const address = quotes[0]?.payDepositAddress ?? "";
    const args = ["play", "dust", "--address", address, "--state-dir", stateDir];
    const { stdout } = await promisify(execFile)(process.execPath, [MAIN, ...args]);
    expect(stdout).toContain(`${address} of globex`);
    expect(stdout).toContain("deposit_detected below_token_min");
    expect(stdout).toContain("as documented; 0 base units of USDC were delivered");
  });

  test.each([
    ["nothing", "{}", {}, 404, /^scenario nothing: expected one of deposit-delivered, /],
    ["dust", "[]", {}, 400, /^body: expected an object$/],
    ["dust", '{"x":1}', {}, 400, /^x: unknown, expected depositAddress or timeoutMs$/],
    ["dust", '{"timeoutMs":0}', {}, 400, /^timeoutMs: expected 1 to 3600000$/],
    ["dust", "{}", { "content-type": "text/plain" }, 415, /^content-type: /],
  ])("refuses %s with %s", async (name, body, headers, status, message) => {
    const response = await post(name, body, headers);
    const { error }: { error: { message: string } } = JSON.parse(await response.text());
    expect([response.status, error.message]).toEqual([status, expect.stringMatching(message)]);
  });

  test("answers with the error of a scenario that cannot be played", async () => {
    const response = await post("dust", `{"depositAddress":"0x${"1".repeat(40)}"}`);
    const lines = (await response.text()).trim().split("\n");
    expect(lines).toEqual([
      JSON.stringify({
        error: {
          message: `depositAddress 0x${"1".repeat(40)}: no integrator of the sandbox has it`,
        },
      }),
    ]);
  });
});
