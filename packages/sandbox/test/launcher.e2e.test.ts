/** Runs the launcher as a user does: checks its output, its descriptor, and that no process is left running. */
import { execFile } from "node:child_process";
import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { removeSandbox } from "@sluice/sandbox";
import { GENESIS_HASH } from "@sluice/sandbox/solana";
import { afterAll, beforeAll, describe, expect, test } from "vitest";

const MAIN = fileURLToPath(new URL("../src/main.ts", import.meta.url));
const ANY_PORTS = [
  "--port",
  "--quote-port",
  "--telemetry-port",
  "--control-port",
  "--ethereum-port",
  "--base-port",
  "--solana-port",
].flatMap((option) => [option, "0"]);

let stateDir: string;

beforeAll(() => {
  stateDir = mkdtempSync(join(tmpdir(), "sluice-launcher-"));
  // The embedded PostgreSQL runs as `nobody` where the tests run as root.
  chmodSync(stateDir, 0o755);
});

afterAll(async () => {
  await removeSandbox(stateDir);
  rmSync(stateDir, { recursive: true, force: true });
});

async function launch(...options: string[]): Promise<string> {
  const args = [MAIN, "--state-dir", stateDir, ...ANY_PORTS, "--exit-after-demo", ...options];
  return (await promisify(execFile)(process.execPath, args)).stdout;
}

/** Returns the names of the printed steps, in order. */
function stepsOf(output: string): string[] {
  return [...output.matchAll(/^ *\d+ ms {2}(\w+(?: \w+)*)/gm)].flatMap((match) => match[1] ?? []);
}

function descriptor() {
  return JSON.parse(readFileSync(join(stateDir, "sandbox.json"), "utf8"));
}

/** Returns the command lines of running processes that contain the state directory. */
function leftRunning(): string[] {
  return readdirSync("/proc").flatMap((pid) => {
    if (!/^\d+$/.test(pid)) return [];
    let command: string;
    try {
      command = readFileSync(`/proc/${pid}/cmdline`, "utf8");
    } catch {
      // The process has ended.
      return [];
    }
    return command.includes(stateDir) ? [command.replaceAll("\0", " ")] : [];
  });
}

describe("launcher", () => {
  test("plays a first deposit from payment to delivery and leaves no process running", async () => {
    const output = await launch();
    expect(stepsOf(output)).toEqual([
      "starting chains",
      "chains",
      "contracts",
      "attestations",
      "starting service",
      "service",
      "integrators",
      "address issued",
      "paid",
      "deposit found",
      "wallet deployed",
      "settling",
      "settled",
      "delivered",
      "done",
      "stopped",
    ]);
    expect(output).toContain("24.975 USDC on base");
    expect(leftRunning()).toEqual([]);
  });

  test("writes a descriptor of its chains and integrators", () => {
    const tokensOf = (native: string) => [
      { symbol: "USDC", standard: "erc20", decimals: 6 },
      { symbol: native, standard: "native", decimals: 18 },
      { symbol: "WETH", standard: "erc20", decimals: 18 },
      { symbol: "FEE", standard: "erc20", decimals: 6 },
    ];
    expect(descriptor()).toMatchObject({
      integrators: [{ name: "acme" }, { name: "globex" }, { name: "plain" }],
      chains: [
        {
          chainId: 2,
          name: "ethereum",
          kind: "evm",
          evmChainId: 900002,
          tokens: tokensOf("ETHEREUM"),
        },
        { chainId: 30, name: "base", kind: "evm", evmChainId: 900030, tokens: tokensOf("BASE") },
        {
          chainId: 1,
          name: "solana",
          kind: "svm",
          genesisHash: GENESIS_HASH,
          tokens: [
            { symbol: "SOLANA", standard: "native", decimals: 9 },
            { symbol: "WSOL", standard: "spl", decimals: 9 },
            { symbol: "USDC", standard: "spl", decimals: 6 },
            { symbol: "USDT", standard: "spl", decimals: 6 },
            { symbol: "WETH", standard: "spl", decimals: 8 },
          ],
        },
      ],
    });
    const { chains } = descriptor();
    expect(chains.map(({ funded }: { funded: unknown[] }) => funded.length)).toEqual([3, 3, 3]);
  });

  test("resumes saved state with the same keys and address, without deploying the wallet again", async () => {
    const before = descriptor();
    const output = await launch();
    expect(descriptor().integrators).toEqual(before.integrators);
    expect(descriptor().chains[0].tokens).toEqual(before.chains[0].tokens);
    expect(descriptor().chains[2].funded).toEqual(before.chains[2].funded);
    expect(stepsOf(output)).not.toContain("wallet deployed");
    expect(output).toContain("4.995 USDC on base");
    expect(leftRunning()).toEqual([]);
  });
});
