/**
 * The example of a production configuration, from an empty chain: `sluice contracts` prints the transactions, an unrelated
 * account sends them to two real nodes that stand in for Ethereum and Base, the owner seals, and `sluice doctor` finds every
 * contract, route and key that the example leaves out. Then the doctor judges the cost of settling by an integrator's terms.
 */
import { execFile } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { depositFactoryAbi } from "@sluice/contracts/abi";
import {
  createPublicClient,
  createTestClient,
  createWalletClient,
  getAddress,
  type Hex,
  http,
} from "viem";
import { mnemonicToAccount, privateKeyToAccount } from "viem/accounts";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Anvil, startAnvil } from "./evm/anvil.ts";
import { answeringCode } from "./evm/answering.ts";
import { PRESETS } from "../src/config/presets/index.ts";
import { assert } from "../src/core/assert.ts";
import { startThrowawayServer, type ThrowawayServer } from "./support/throwaway-server.ts";

const PROGRAM = join(import.meta.dirname, "../bin/sluice.js");
const EXAMPLE = join(import.meta.dirname, "../../../docs/examples/production.json");
const MNEMONIC = "test test test test test test test test test test test junk";
const account = (addressIndex: number) => mnemonicToAccount(MNEMONIC, { addressIndex });
const [owner, guardian, stranger] = [account(0), account(1), account(3)];

const KEYS = ["1", "2", "3", "4", "5", "6", "7", "8", "9"].map(
  (digit): Hex => `0x${digit.repeat(64)}`,
);
const keyRef = (index: number) => ({ env: `KEY_${index}` });
const addressOfKey = (index: number) => {
  const key = KEYS[index];
  assert(key, "there is such a key");
  return privateKeyToAccount(key).address;
};

interface Contract {
  readonly chainId: number;
  readonly name: string;
  readonly address: string;
  readonly transaction: { readonly to: string; readonly data: Hex } | null;
}

interface Finding {
  readonly id: string;
  readonly subject: string;
  readonly item?: string;
  readonly status: string;
  readonly found: string;
}

let folder: string;
let anvils: ReadonlyMap<number, Anvil>;
let server: ThrowawayServer;
let databaseUrl: string;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "sluice-production-"));
  server = await startThrowawayServer("sluice-production");
  assert("user" in server.address, "the embedded server listens on a socket");
  const { socketDir, user, database } = server.address;
  databaseUrl = `postgres://${user}@${encodeURIComponent(socketDir)}/${database}`;
  const [ethereum, base] = await Promise.all([startAnvil(1), startAnvil(8453)]);
  anvils = new Map([
    [2, ethereum],
    [30, base],
  ]);
});
afterAll(async () => {
  await Promise.all([...(anvils?.values() ?? [])].map((anvil) => anvil.stop()));
  await server?.stop();
  rmSync(folder, { recursive: true, force: true });
});

const rpcUrlOf = (chainId: number) => {
  const anvil = anvils.get(chainId);
  assert(anvil, "every chain of the example has a node");
  return anvil.rpcUrl;
};

/** The tokens of a preset; a treasury contract keeps an inventory of USDC. */
const tokensOf = (coin: string) => [
  { symbol: coin },
  { symbol: "WETH" },
  { symbol: "USDC", inventoryMin: "100", inventoryTarget: "500" },
  { symbol: "USDT" },
];

/** Writes the example with nodes, keys and accounts filled in. It contacts nothing outside this machine. */
function writeConfig(): string {
  const file = JSON.parse(readFileSync(EXAMPLE, "utf8"));
  const lanes = (first: number) => ({
    deploy: keyRef(first),
    settle: keyRef(first + 1),
    deliver: keyRef(first + 2),
    claim: keyRef(first + 3),
  });
  const path = join(folder, "sluice.json");
  writeFileSync(
    path,
    JSON.stringify({
      ...file,
      stateDir: "state",
      httpPrices: false,
      // Nothing listens on this port.
      cctp: { apiUrl: "http://127.0.0.1:1" },
      deployment: {
        owner: owner.address,
        guardian: guardian.address,
        securityContact: file.deployment.securityContact,
      },
      attestor: { key: keyRef(8), rpcUrls: { ethereum: rpcUrlOf(2), base: rpcUrlOf(30) } },
      chains: [
        {
          ...file.chains[0],
          rpcUrls: [rpcUrlOf(2)],
          lanes: lanes(0),
          tokens: tokensOf("ETHEREUM"),
        },
        { ...file.chains[1], rpcUrls: [rpcUrlOf(30)], lanes: lanes(4), tokens: tokensOf("BASE") },
      ],
    }),
  );
  return path;
}

async function run(command: string): Promise<string> {
  const env = {
    ...process.env,
    SLUICE_DATABASE_URL: databaseUrl,
    SLUICE_API_KEY_PEPPER: "a-pepper-of-some-length",
    SLUICE_KEYSTORE_PASSPHRASE: "a passphrase",
    ...Object.fromEntries(KEYS.map((key, index) => [`KEY_${index}`, key])),
  };
  const args = [...command.split(" "), "--config", writeConfig(), "--json"];
  return new Promise((done) => {
    // With a finding the exit code is not 0, and the report is still on stdout.
    execFile(PROGRAM, args, { env, maxBuffer: 2 ** 26 }, (_, stdout) => done(stdout));
  });
}

async function listContracts(): Promise<readonly Contract[]> {
  return JSON.parse(await run("contracts")).contracts;
}

const ABOUT_CONTRACTS = /^(contract|factory|route|key|treasury)\./;

async function diagnose(about: RegExp): Promise<readonly Finding[]> {
  const report: { readonly checks: readonly Finding[] } = JSON.parse(await run("doctor"));
  return report.checks.filter(({ id }) => about.test(id));
}

const clientsOf = (chainId: number) => {
  const transport = http(rpcUrlOf(chainId));
  return {
    reader: createPublicClient({ transport, pollingInterval: 20 }),
    open: (from: typeof owner) => createWalletClient({ transport, account: from }),
  };
};

/** Sends the transactions that the command prints, in its order. */
async function deploy(contracts: readonly Contract[]): Promise<void> {
  for (const { chainId, transaction } of contracts) {
    assert(transaction, "every contract of the example follows from its deployment");
    const { reader, open } = clientsOf(chainId);
    const to = getAddress(transaction.to);
    const hash = await open(stranger).sendTransaction({ chain: null, to, data: transaction.data });
    const { status } = await reader.waitForTransactionReceipt({ hash });
    expect(status).toBe("success");
  }
}

interface SafeBatch {
  readonly chainId: string;
  readonly meta: { readonly createdFromSafeAddress: string };
  readonly transactions: readonly { readonly to: string; readonly data: `0x${string}` }[];
}

interface Left {
  readonly chains: readonly {
    readonly chain: string;
    readonly steps: readonly { readonly name: string; readonly waitsUntil: string | null }[];
  }[];
}

const listLeft = async (flags = ""): Promise<readonly string[]> => {
  const { chains }: Left = JSON.parse(await run(`contracts --left${flags}`));
  return chains.flatMap(({ chain, steps }) =>
    steps.map(({ name, waitsUntil }) => {
      const shown = name.replace(/, from 0x\w+ to 0x\w+$/, "");
      return `${chain}: ${shown}${waitsUntil ? ", later" : ""}`;
    }),
  );
};

/** Sends the owner's batches that the command prints, as a multisig would. */
async function sendBatches(flags = ""): Promise<void> {
  const batches: Readonly<Record<string, SafeBatch>> = JSON.parse(
    await run(`contracts --batch safe${flags}`),
  );
  for (const [name, { chainId, meta, transactions }] of Object.entries(batches)) {
    expect(meta.createdFromSafeAddress).toBe(owner.address);
    const at = name === "ethereum" ? 2 : 30;
    expect(chainId).toBe(name === "ethereum" ? "1" : "8453");
    const { reader, open } = clientsOf(at);
    for (const { to, data } of transactions) {
      const hash = await open(owner).sendTransaction({ chain: null, to: getAddress(to), data });
      expect((await reader.waitForTransactionReceipt({ hash })).status).toBe("success");
    }
  }
}

test("the schema is created by a command of its own", async () => {
  expect(await run("integrator list")).toBe("");
  expect(JSON.parse(await run("migrate"))).toMatchObject({ migrated: true });
});

test("the doctor reports every missing contract before the deployment", async () => {
  const missing = (await diagnose(ABOUT_CONTRACTS)).filter(
    ({ id, status }) => id === "contract.code" && status === "problem",
  );
  const contracts = await listContracts();
  expect(missing.map(({ item }) => item).toSorted()).toEqual(
    contracts.map(({ name }) => name).toSorted(),
  );
});

test("the printed transactions deploy every contract at its expected address", async () => {
  const contracts = await listContracts();
  expect(contracts.map(({ chainId, name }) => `${chainId} ${name}`)).toEqual([
    "2 factory",
    "2 escrow",
    "2 delivery",
    "2 treasury",
    "2 MONO_CHAIN ETHEREUM of chain 2",
    "2 MONO_CHAIN WETH of chain 2",
    "2 MONO_CHAIN USDC of chain 2",
    "2 MONO_CHAIN USDT of chain 2",
    "2 FAST_MCTP USDC of chain 2 to USDC of chain 30",
    "30 factory",
    "30 escrow",
    "30 delivery",
    "30 treasury",
    "30 MONO_CHAIN BASE of chain 30",
    "30 MONO_CHAIN WETH of chain 30",
    "30 MONO_CHAIN USDC of chain 30",
    "30 MONO_CHAIN USDT of chain 30",
    "30 FAST_MCTP USDC of chain 30 to USDC of chain 2",
  ]);
  const ownersSteps = [
    "seal the factory",
    "seal the delivery",
    "seal the treasury",
    "set the security contact",
  ];
  expect(await listLeft()).toEqual(
    ["ethereum", "base"].flatMap((chain) => [
      ...contracts
        .filter(({ chainId }) => chainId === (chain === "ethereum" ? 2 : 30))
        .map(({ name }) => `${chain}: deploy ${name}`),
      ...ownersSteps.map((name) => `${chain}: ${name}`),
    ]),
  );
  await deploy(contracts);
  const caps = " --daily-cap ethereum:USDC=1000,base:USDC=1000";
  await sendBatches(caps);
  expect(await listLeft(caps)).toEqual([]);
  const checks = await diagnose(ABOUT_CONTRACTS);
  expect(checks.filter(({ status }) => status !== "ok")).toEqual([]);
  const count = (id: string) => checks.filter((check) => check.id === id).length;
  expect(count("contract.code")).toBe(contracts.length);
  expect(count("route.listed")).toBe(10);
  expect(count("route.terms")).toBe(10);
});

test("what changes afterwards is left, and waits out the delay where the contracts say so", async () => {
  const relayer = addressOfKey(5);
  const token = PRESETS.find(({ name }) => name === "base")?.tokens.find(
    ({ symbol }) => symbol === "USDC",
  );
  assert(token, "the preset lists USDC");
  const { reader, open } = clientsOf(30);
  const contracts = await listContracts();
  const factory = getAddress(
    contracts.find(({ chainId, name }) => chainId === 30 && name === "factory")?.address ?? "",
  );
  const hash = await open(owner).writeContract({
    chain: null,
    address: factory,
    abi: depositFactoryAbi,
    functionName: "setRelayer",
    args: [relayer, false],
  });
  await reader.waitForTransactionReceipt({ hash });
  const raise = " --daily-cap ethereum:USDC=1000,base:USDC=2000";
  const cap = `the daily cap of ${token.address.toLowerCase()}`;
  const direction = "the direction of USDC into the inventory of base";
  expect(await listLeft(raise)).toEqual([
    `ethereum: schedule ${direction}`,
    `base: list the relayer ${relayer.toLowerCase()}`,
    `base: schedule ${cap}`,
    `base: schedule ${direction}`,
  ]);
  await sendBatches(raise);
  const waiting = [
    `ethereum: execute ${direction}`,
    `base: execute ${cap}`,
    `base: execute ${direction}`,
  ];
  expect(await listLeft(raise)).toEqual(waiting.map((step) => `${step}, later`));
  await sendBatches(raise);
  for (const chainId of [2, 30]) {
    const client = createTestClient({ mode: "anvil", transport: http(rpcUrlOf(chainId)) });
    await client.increaseTime({ seconds: 7 * 86_400 + 60 });
    await client.mine({ blocks: 1 });
  }
  expect(await listLeft(raise)).toEqual(waiting);
  await sendBatches(raise);
  expect(await listLeft(raise)).toEqual([]);
});

/** Makes every feed of the two presets answer one dollar. */
async function setFeeds(): Promise<void> {
  for (const [name, chainId] of [
    ["ethereum", 2],
    ["base", 30],
  ] as const) {
    const client = createTestClient({ mode: "anvil", transport: http(rpcUrlOf(chainId)) });
    const now = BigInt(Math.floor(Date.now() / 1000));
    const bytecode = answeringCode({
      "function decimals() view returns (uint8)": 8,
      "function latestRoundData() view returns (uint80, int256, uint256, uint256, uint80)": [
        1n,
        100_000_000n,
        now,
        now,
        1n,
      ],
    });
    for (const { feed } of PRESETS.find((preset) => preset.name === name)?.tokens ?? []) {
      if (feed) await client.setCode({ address: getAddress(feed.address), bytecode });
    }
  }
}

test("the cost of the smallest deposit is judged by the terms of each integrator", async () => {
  await setFeeds();
  const usdcOfBase = async () =>
    (await diagnose(/^terms\.cost$/)).filter(({ item }) => item === "MONO_CHAIN USDC of chain 30");
  const sponsored = expect.stringMatching(/of gas; the fee is 0\.001$/);
  expect(await usdcOfBase()).toMatchObject([{ status: "ok", found: sponsored }]);

  await run(
    `integrator create --name till --refund-evm ${stranger.address} --gas charged --max-fee-bps 0`,
  );
  const charged = expect.stringMatching(/of gas; the fee cap of integrator till is 0$/);
  expect(await usdcOfBase()).toMatchObject([{ status: "problem", found: charged }]);
});
