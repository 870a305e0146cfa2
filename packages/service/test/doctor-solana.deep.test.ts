/** `sluice doctor` on a sandbox with Solana: correct, and with one thing broken at a time. */
import { execFile } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startTamperingProxy } from "./support/tampering-proxy.ts";
import { openSolanaSandbox, type SolanaSandbox } from "./support/solana-sandbox.ts";

const PROGRAM = join(import.meta.dirname, "../bin/sluice.js");
const SOLANA = "chain 1 (solana)";
const ATTESTORS = "attestor's node of chain 1";
/** A wallet that the sandbox does not use, and the hash of no block. */
const ELSEWHERE = "7h6kcCCYnD44Rhjryob1uWcxDXXrV8jYDLPvSxi5BzBe";
const STRANGER = `0x${"5".repeat(40)}`;

interface Finding {
  readonly id: string;
  readonly subject: string;
  readonly item?: string;
  readonly status: "ok" | "warning" | "problem" | "skipped";
  readonly found: string;
  readonly expected: string;
}

interface SolanaFile {
  rpcUrl: string;
  genesisHash: string;
  attestors: readonly string[];
  readonly contracts: Record<string, string>;
  readonly dailyCaps: Record<string, string>;
  readonly tokens: { symbol: string; address: string; program?: string; inventoryMin?: string }[];
}

interface ConfigFile {
  readonly attestor: { readonly rpcUrls: Record<string, string> };
  readonly chains: readonly { readonly chainId: number }[];
}

let world: SolanaSandbox;
beforeAll(async () => {
  world = await openSolanaSandbox();
}, 120_000);
afterAll(() => world.close());

let count = 0;

/** Runs the doctor on the configuration after `change` edited its Solana chain. */
async function diagnose(change: (solana: SolanaFile, file: ConfigFile) => void = () => {}) {
  // CAST: the form that the sandbox writes.
  const file = JSON.parse(readFileSync(world.configPath, "utf8")) as ConfigFile;
  // CAST: as above.
  const solana = file.chains.find(({ chainId }) => chainId === 1) as unknown as SolanaFile;
  change(solana, file);
  const path = world.configPath.replace(/\.json$/, `-${(count += 1)}.json`);
  writeFileSync(path, JSON.stringify(file), { mode: 0o600 });
  const { code, stdout, stderr } = await new Promise<{
    code: number;
    stdout: string;
    stderr: string;
  }>((resolve) => {
    execFile(
      process.execPath,
      [PROGRAM, "doctor", "--config", path, "--json"],
      { env: {}, timeout: 120_000, maxBuffer: 1e8 },
      (error, stdout, stderr) => resolve({ code: error ? Number(error.code) : 0, stdout, stderr }),
    );
  });
  expect(stderr).toBe("");
  const { checks }: { checks: readonly Finding[] } = JSON.parse(stdout);
  const problems = checks.filter(
    ({ status, id }) => (status === "problem" || status === "warning") && id !== "node.second-view",
  );
  return { code, checks, problems };
}

const ofSolana = ({ subject }: Finding) => subject === SOLANA || subject === ATTESTORS;

test("a correct sandbox has only the warnings of a single node", async () => {
  const { code, checks, problems } = await diagnose();
  expect(problems).toEqual([]);
  expect(code).toBe(0);
  const solana = checks.filter(ofSolana);
  expect(solana.length).toBeGreaterThan(30);
  expect(solana.filter(({ status }) => status === "skipped")).toMatchObject([
    { id: "node.memos", subject: SOLANA, found: "no memo written yet" },
    { id: "node.memos", subject: ATTESTORS },
  ]);
});

test("finds the memos of past transactions", async () => {
  const mint = world.mintOf("USDC");
  const { address } = await world.quote({
    fromChain: "solana",
    fromToken: mint,
    toChain: "solana",
    toToken: mint,
    recipient: "ALaVUuQzVcS7MMTkqas9ZW8MymnEphYF2CC6PaeeMRS9",
    amount: 25_000_000n,
  });
  await world.payTokens(mint, address, 25_000_000n);
  await world.settled(address);
  const { checks, problems } = await diagnose();
  expect(problems).toEqual([]);
  expect(checks.filter(({ id }) => id === "node.memos")).toMatchObject([
    { status: "ok", subject: SOLANA, found: expect.stringMatching(/^the memo of \w{80,}$/) },
    { status: "ok", subject: ATTESTORS },
  ]);
});

test("reports a node of another cluster, once for the service and once for the attestor", async () => {
  const { code, checks, problems } = await diagnose((solana) => {
    solana.genesisHash = ELSEWHERE;
  });
  expect(code).toBe(1);
  expect(problems.filter(({ id }) => id === "node.chain-id")).toMatchObject([
    { subject: SOLANA, found: expect.stringMatching(/^genesisHash Eqp/) },
    { subject: ATTESTORS },
  ]);
  expect(checks.find(({ id }) => id === "token.mint")?.status).toBe("skipped");
});

test("reports wrong accounts, attestors, caps and mints separately", async () => {
  const { code, problems } = await diagnose((solana) => {
    solana.contracts["escrow"] = ELSEWHERE;
    solana.attestors = [STRANGER];
    solana.dailyCaps["USDC"] = "0";
    for (const token of solana.tokens) {
      if (token.symbol === "USDT") token.program = "token-2022";
      if (token.symbol === "WETH") token.inventoryMin = "2000000";
    }
  });
  expect(code).toBe(1);
  expect(problems.filter(ofSolana)).toMatchObject([
    {
      id: "seed.accounts",
      status: "problem",
      expected: `escrow ${ELSEWHERE}`,
    },
    { id: "key.listed", item: "attestor", status: "problem" },
    { id: "key.listed", item: "attestors.cold[0]", status: "problem" },
    { id: "token.mint", item: "USDT", status: "problem", found: "token program differs" },
    { id: "delivery.cap", item: "USDC", status: "problem" },
    { id: "delivery.inventory", item: "WETH", status: "warning", found: "1000000 WETH" },
  ]);
});

test("reports a fee payer without SOL", async () => {
  const { code, problems } = await diagnose((solana) => {
    solana.contracts["deliver"] = ELSEWHERE;
  });
  expect(code).toBe(1);
  expect(problems.filter(ofSolana)).toMatchObject([
    { id: "seed.accounts", expected: `deliver ${ELSEWHERE}` },
    {
      id: "lane.balance",
      item: "deliver",
      status: "problem",
      found: "0 SOL, enough for 0 transactions",
    },
  ]);
});

test("reports a node without memos, with other balances or without old blocks", async () => {
  const liar = await startTamperingProxy(world.sandbox.solana.rpcUrl, ({ method }, said) => {
    if (method === "getFirstAvailableBlock") return { result: 1_000_000 };
    if (method === "getSignaturesForAddress") {
      // CAST: the form in which the sandbox answers.
      const entries = said.result as readonly object[];
      return { result: entries.map((entry) => ({ ...entry, memo: null })) };
    }
    if (method !== "getBlock" || said.result === undefined) return said;
    // CAST: as above.
    return { result: { ...(said.result as object), blockhash: ELSEWHERE } };
  });
  try {
    const { code, problems } = await diagnose((_, file) => {
      file.attestor.rpcUrls["1"] = liar.url;
    });
    expect(code).toBe(1);
    expect(problems).toMatchObject([
      { id: "node.history", subject: ATTESTORS, status: "warning" },
      { id: "node.memos", subject: ATTESTORS, status: "problem", found: "a history without memos" },
      { id: "node.agreement", subject: ATTESTORS, status: "problem" },
    ]);
  } finally {
    await liar.close();
  }
});
