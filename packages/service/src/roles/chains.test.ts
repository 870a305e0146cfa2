import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { startMalformedNode } from "../../test/evm/malformed-node.ts";
import { createReadableSigner, createStillClock, silentLog } from "../../test/support/doubles.ts";
import { loadConfig } from "./config.ts";
import { parseSolanaAddress, toBase58 } from "../core/base58.ts";
import { type Address, NATIVE_SOL, toAddress } from "../core/hex.ts";
import type { LaneSigner } from "../signers/port.ts";
import { createChains, createScannerChains } from "./chains.ts";
import { createCommandTraffic } from "./command-traffic.ts";
import { getChain } from "../routes/index.ts";

const MINT = "EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v";
const evmAddress = (digit: number) => `0x${String(digit).repeat(40)}`;

/** Public keys, which are valid accounts. */
const ACCOUNTS = {
  binding: toBase58(
    toAddress("0xd75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a"),
  ),
  escrow: toBase58(toAddress("0x3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c")),
  delivery: toBase58(
    toAddress("0xfc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025"),
  ),
  settle: toBase58(toAddress("0x8abd160edf0fdd25d9d1705d3c5b24930a90f6eb32aa3e94b27112cc79e77be2")),
  deliver: toBase58(
    toAddress("0x636bdb884baee9fb98f9b38c293207e7d1c8184948848ff1ff9942e96108ab1d"),
  ),
  treasury: toBase58(toAddress(`0x58${"66".repeat(31)}`)),
};

const RPC_URL = "http://127.0.0.1:8545";

function readConfig(nodes: object = { rpcUrl: RPC_URL }) {
  const folder = mkdtempSync(join(tmpdir(), "sluice-context-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const path = join(folder, "sluice.json");
  const file = {
    stateDir: "state",
    apiKeyPepper: { env: "PEPPER" },
    feeBps: 10,
    attestor: {
      key: { env: "ATTESTOR" },
      rpcUrls: { solana: "http://127.0.0.1:1", 2: "http://127.0.0.1:2" },
    },
    chains: [
      {
        chainId: 1,
        rpcUrl: "http://127.0.0.1:8899",
        genesisHash: ACCOUNTS.treasury,
        startSlot: 7,
        contracts: ACCOUNTS,
        tokens: [{ symbol: "USDC", address: MINT, decimals: 6, minDeposit: "0.5" }],
        seed: { env: "SEED" },
        attestors: [evmAddress(8)],
        dailyCaps: { USDC: "50000.5" },
      },
      {
        chainId: 2,
        evmChainId: 900002,
        ...nodes,
        startBlock: 0,
        contracts: { factory: evmAddress(1), escrow: evmAddress(2), delivery: evmAddress(3) },
        tokens: [{ symbol: "USDC", address: evmAddress(4), decimals: 6 }],
        lanes: {
          deploy: { env: "DEPLOY" },
          settle: { env: "SETTLE" },
          deliver: { env: "DELIVER" },
        },
      },
    ],
    routes: [{ kind: "SWIFT", chainId: "solana", token: "USDC", destChain: 2, destToken: "USDC" }],
  };
  writeFileSync(path, JSON.stringify(file));
  const keys = ["ATTESTOR", "DEPLOY", "SETTLE", "DELIVER", "SEED"];
  const env = {
    PEPPER: "canary-pepper-of-some-length",
    ...Object.fromEntries(keys.map((name, index) => [name, `0x${`${index + 1}`.repeat(64)}`])),
  };
  return loadConfig({ path, env });
}

test("takes the rest of the daily cap on Solana from the signer that enforces it", async () => {
  const config = readConfig();
  const deps = { clock: createStillClock(), log: silentLog, trafficOf: createCommandTraffic() };
  const mint: Address = parseSolanaAddress(MINT) ?? NATIVE_SOL;
  const leftFor = (lanes?: readonly LaneSigner[]) =>
    getChain(createChains(config, { ...deps, lanes }), 1).getDailyCapLeft(mint);
  const lane = (purpose: LaneSigner["purpose"], left?: bigint): LaneSigner => ({
    ...createReadableSigner(1),
    purpose,
    ...(left !== undefined && { getCapLeft: async (token) => (token === mint ? left : 0n) }),
  });
  expect(await leftFor([lane("settle", 1n), lane("deliver", 7n)])).toBe(7n);
  expect(await leftFor([lane("deliver", 0n)])).toBe(0n);
  // Without a signer only the cap of the configuration is known.
  expect(await leftFor()).toBe(50_000_500_000n);
  expect(await leftFor([{ ...lane("deliver", 7n), chainId: 2 }])).toBe(50_000_500_000n);
});

test("only the scanner asks a witness [D5]", async () => {
  const [full, one, other] = [
    await startMalformedNode(),
    await startMalformedNode(),
    await startMalformedNode(),
  ];
  const nodes = [full, one, other];
  onTestFinished(async () => {
    for (const node of nodes) await node.stop();
  });
  const block = {
    number: "0x5",
    hash: `0x${"b5".repeat(32)}`,
    parentHash: `0x${"b4".repeat(32)}`,
    timestamp: "0x1",
  };
  const chainIdOf = "0xdbba2";
  for (const node of nodes) {
    node.answer(({ method }) => ({ result: method === "eth_chainId" ? chainIdOf : block }));
  }
  const witness = ({ rpcUrl }: { rpcUrl: string }) => ({ url: rpcUrl, role: "witness" });
  const config = readConfig({ rpcUrls: [witness(one), full.rpcUrl, witness(other)] });
  const deps = { clock: createStillClock(), log: silentLog, trafficOf: createCommandTraffic() };
  const chains = createChains(config, deps);
  expect(await getChain(chains, 2).getFinalNumber()).toBe(5n);
  expect(await getChain(chains, 2).getTime("latest")).toBe(1n);
  expect(nodes.map(({ asked }) => asked.length)).toEqual([2, 0, 0]);

  const scanner = getChain(createScannerChains(config, { ...deps, streams: new Map() }), 2);
  await scanner.getFinalNumber().catch(() => undefined);
  expect(one.asked.length).toBeGreaterThan(0);
  expect(other.asked.length).toBeGreaterThan(0);
});
