/** `sluice doctor` on a chain that matches its preset, and on one that does not; a real node stands in for Base. */
import { execFile } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createTestClient, getAddress, http } from "viem";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Anvil, startAnvil } from "./evm/anvil.ts";
import { type Answers, answeringCode } from "./evm/answering.ts";
import { chainOf, findPreset } from "../src/config/presets/index.ts";
import { assert } from "../src/core/assert.ts";

const PROGRAM = join(import.meta.dirname, "../bin/sluice.js");
const EXAMPLE = join(import.meta.dirname, "../../../docs/examples/production.json");
const STRANGER = getAddress(`0x${"b3".repeat(20)}`);

const preset = findPreset("base");
assert(preset?.cctp, "there is a preset of Base, with CCTP");
const { cctp, tokens, uniswapV3 } = preset;

interface Finding {
  readonly id: string;
  readonly subject: string;
  readonly item?: string;
  readonly status: string;
  readonly found: string;
}

let folder: string;
let anvil: Anvil;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "sluice-preset-"));
  anvil = await startAnvil(chainOf(preset).evmChainId);
  await buildChain();
});
afterAll(async () => {
  await anvil?.stop();
  rmSync(folder, { recursive: true, force: true });
});

/** Puts contracts at the addresses of the preset that answer with the preset's facts. */
async function buildChain(): Promise<void> {
  for (const { address, symbol, symbolOnChain, decimals, feed } of tokens) {
    if (/^0x0+$/.test(address)) continue;
    await answer(address, {
      "function symbol() view returns (string)": symbolOnChain ?? symbol,
      "function decimals() view returns (uint8)": decimals,
    });
    if (feed) await answer(feed.address, feedAnswers(feed.pair));
  }
  await answer(cctp.messenger, {
    "function localMessageTransmitter() view returns (address)": cctp.transmitter,
  });
  await answer(cctp.transmitter, {
    "function localDomain() view returns (uint32)": cctp.domain,
  });
  await answer(uniswapV3.factory, {});
  await answer(uniswapV3.router, routerAnswers(uniswapV3.factory));
}

async function answer(address: string, answers: Answers): Promise<void> {
  const client = createTestClient({ mode: "anvil", transport: http(anvil.rpcUrl) });
  await client.setCode({ address: getAddress(address), bytecode: answeringCode(answers) });
}

const feedAnswers = (pair: string): Answers => ({
  "function description() view returns (string)": pair,
  "function decimals() view returns (uint8)": 8,
  "function latestRoundData() view returns (uint80, int256, uint256, uint256, uint80)": [
    1n,
    100_000_000n,
    1n,
    BigInt(Math.floor(Date.now() / 1000)),
    1n,
  ],
});

const routerAnswers = (factory: string): Answers => ({
  "function factory() view returns (address)": factory,
  "function WETH9() view returns (address)": uniswapV3.weth,
});

/** Returns the doctor's findings about the preset's facts; the example's own contracts are not deployed here. */
async function diagnose(): Promise<readonly Finding[]> {
  const file: { readonly chains: readonly object[]; readonly attestor: object } = JSON.parse(
    readFileSync(EXAMPLE, "utf8"),
  );
  const key = (name: string) => ({ env: `KEY_${name}` });
  const { rpcUrl } = anvil;
  const path = join(folder, "sluice.json");
  const chain = {
    ...file.chains[1],
    rpcUrls: [rpcUrl],
    lanes: { deploy: key("1"), settle: key("2"), deliver: key("3") },
  };
  const attestor = { key: key("4"), rpcUrls: { 30: rpcUrl } };
  // HTTP price sources are not reachable from a test.
  const changes = { stateDir: "state", httpPrices: false, chains: [chain], routes: [], attestor };
  writeFileSync(path, JSON.stringify({ ...file, ...changes }));
  const env = {
    ...process.env,
    // No database listens there: this test needs none.
    SLUICE_DATABASE_URL: "postgres://sluice@127.0.0.1:1/sluice",
    SLUICE_API_KEY_PEPPER: "a-pepper-of-some-length",
    SLUICE_KEYSTORE_PASSPHRASE: "a passphrase",
    ...Object.fromEntries(
      ["1", "2", "3", "4"].map((name) => [`KEY_${name}`, `0x${name.repeat(64)}`]),
    ),
  };
  const stdout = await new Promise<string>((done) => {
    // With a finding the exit code is not 0, and the report is still on stdout.
    execFile(PROGRAM, ["doctor", "--config", path, "--json"], { env }, (_, text) => done(text));
  });
  const report: { readonly checks: readonly Finding[] } = JSON.parse(stdout);
  return report.checks.filter(
    ({ id, subject }) =>
      subject === "chain 30 (base)" && /^(node\.chain-id|token|price|cctp|uniswap)\b/.test(id),
  );
}

test("every fact of the preset is checked and holds", async () => {
  const checks = await diagnose();
  expect(checks.filter(({ status }) => status !== "ok")).toMatchObject([
    { id: "token.decimals", item: "BASE", status: "skipped" },
  ]);
  const names = checks.map(({ id, item }) => (item ? `${id} ${item}` : id));
  const of = (id: string, symbols: readonly string[]) => symbols.map((symbol) => `${id} ${symbol}`);
  expect(names.toSorted()).toEqual(
    [
      "node.chain-id",
      ...of("token.code", ["USDC", "USDT", "WETH"]),
      ...of("token.decimals", ["BASE", "USDC", "USDT", "WETH"]),
      ...of("token.symbol", ["USDC", "USDT", "WETH"]),
      ...of("price.feed", ["BASE", "USDC", "USDT", "WETH"]),
      ...of("cctp.code", ["messenger", "transmitter"]),
      "cctp.domain",
      "uniswap.code router",
      "uniswap.terms",
    ].toSorted(),
  );
});

test("facts that differ from the preset are reported", async () => {
  const usdc = tokens.find(({ symbol }) => symbol === "USDC");
  assert(usdc?.feed, "the preset has a feed of USDC");
  await answer(usdc.address, {
    "function symbol() view returns (string)": "USDbC",
    "function decimals() view returns (uint8)": 18,
  });
  await answer(usdc.feed.address, feedAnswers("USDT / USD"));
  await answer(cctp.transmitter, { "function localDomain() view returns (uint32)": 0 });
  await answer(uniswapV3.router, routerAnswers(STRANGER));
  const checks = await diagnose();
  expect(checks.filter(({ status }) => status === "problem" || status === "warning")).toMatchObject(
    [
      { id: "token.decimals", item: "USDC", status: "problem", found: "decimals 18" },
      { id: "token.symbol", item: "USDC", status: "warning", found: '"USDbC"' },
      { id: "price.feed", item: "USDC", found: expect.stringMatching(/^"USDT \/ USD"/) },
      { id: "cctp.domain", status: "problem", found: "domain 0" },
      { id: "uniswap.terms", status: "problem", found: `no code at its factory ${STRANGER}` },
    ],
  );
});
