/** What is left to send, against a node whose answers are set by hand. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { createStrictInspector } from "../../test/support/doctor-doubles.ts";
import type { ChainInspector } from "../chains/inspector.ts";
import { toEvmAddress } from "../core/hex.ts";
import { loadConfig } from "../roles/config.ts";
import { listContracts } from "./contracts.ts";
import { listLeft, toSafeBatch, type TypedCap } from "./contracts-left.ts";

const EXAMPLE = join(import.meta.dirname, "../../../../docs/examples/production.json");
const NOW_S = 1_800_000_000n;
const addressOf = (byte: string) => toEvmAddress(`0x${byte.repeat(20)}`);
const [SETTLE, CLAIM, DELIVER, RETIRED, ATTESTOR] = ["a1", "a2", "a3", "a4", "a5"].map(addressOf);

function load(change: object) {
  const folder = mkdtempSync(join(tmpdir(), "sluice-left-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const file = JSON.parse(readFileSync(EXAMPLE, "utf8"));
  writeFileSync(join(folder, "sluice.json"), JSON.stringify({ ...file, ...change }));
  return loadConfig({
    path: join(folder, "sluice.json"),
    env: { SLUICE_DATABASE_URL: "postgres://sluice@db.example/sluice" },
    roles: [],
  });
}

/** Lists the steps on Base, with these answers of its node. */
async function leftOf(
  node: Partial<ChainInspector>,
  { change = {}, caps = [] }: { change?: object; caps?: readonly TypedCap[] } = {},
) {
  const config = load(change);
  const account = (address: typeof SETTLE, purpose: "settle" | "claim" | "deliver" | null) => ({
    setting: "",
    kind: "keystore",
    name: purpose ?? "attestor",
    address: address ?? addressOf("00"),
    lane: purpose && { chainId: 30, purpose, retired: address === RETIRED },
  });
  const inspector = createStrictInspector({
    getHead: async () => ({ number: 1n, hash: "0x", parentHash: "0x", timestamp: NOW_S }) as never,
    hasCode: async () => true,
    getGovernance: async () => ({ isSealed: true }) as never,
    isRelayer: async () => true,
    isRoute: async () => true,
    isAttestor: async () => true,
    isSettler: async () => true,
    getThreshold: async () => config.attestors.threshold,
    getTreasury: async () => config.deployment?.treasury ?? addressOf("00"),
    getSecurityContact: async () => config.deployment?.securityContact ?? "",
    ...node,
  });
  const left = await listLeft({
    config,
    contracts: listContracts(config),
    accounts: [
      account(SETTLE, "settle"),
      account(CLAIM, "claim"),
      account(DELIVER, "deliver"),
      account(RETIRED, "settle"),
      account(ATTESTOR, null),
    ],
    inspectorOf: () => inspector,
    caps,
  });
  const base = left.find(({ chain }) => chain === "base");
  if (!base) throw new Error("the example has Base");
  return base;
}

test("nothing is left where the chains have what the configuration names", async () => {
  expect((await leftOf({})).steps).toEqual([]);
});

test("a relayer is listed at once, and other members in two steps", async () => {
  const asked: unknown[] = [];
  const times = new Map([
    [addressOf("a3"), NOW_S + 60n],
    [addressOf("a5"), NOW_S],
  ]);
  const base = await leftOf({
    isRelayer: async (_, account) => {
      asked.push(account);
      return account !== CLAIM;
    },
    isSettler: async () => false,
    isAttestor: async (_, account) => account !== ATTESTOR,
    getTreasury: async () => addressOf("ee"),
    getReadyAt: async (_, { account }) => times.get(toEvmAddress(account)) ?? 0n,
  });
  expect(base.steps.map(({ name, waitsUntil }) => [name, waitsUntil])).toEqual([
    [`list the relayer ${CLAIM}`, null],
    [`execute the attestor ${ATTESTOR}`, null],
    [expect.stringMatching(/^schedule the treasury 0x/), null],
    [`execute the settler ${DELIVER}`, "2027-01-15T08:01:00.000Z"],
  ]);
  // A lane that only finishes its transactions needs no listing.
  expect(asked).toEqual([SETTLE, CLAIM]);
  const batch = toSafeBatch(base, { owner: addressOf("0a"), nowMs: 7 });
  expect(batch).toMatchObject({ version: "1.0", chainId: "8453", createdAt: 7 });
  expect(batch).toHaveProperty("transactions.length", 3);
});

test("a seal without the cap of a token that inventory pays is refused, and so is an unknown token", async () => {
  const change = { routes: [{ kind: "SWIFT", tokens: ["USDC"] }] };
  const unsealed = { getGovernance: async () => ({ isSealed: false }) as never };
  await expect(leftOf(unsealed, { change })).rejects.toThrow(
    /--daily-cap: expected (base|ethereum):USDC=AMOUNT/,
  );
  const caps = ["base", "ethereum"].map((chain) => ({ chain, symbol: "USDC", amount: "1000.5" }));
  const { steps } = await leftOf(unsealed, { change, caps });
  expect(steps.map(({ name }) => name)).toEqual(["seal the factory", "seal the delivery"]);
  // 1,000.5 USDC of six decimals.
  expect(steps[1]?.data).toContain((1_000_500_000).toString(16).padStart(64, "0"));
  const unknown = [{ chain: "base", symbol: "NONE", amount: "1" }];
  await expect(leftOf({}, { caps: unknown })).rejects.toThrow(
    "--daily-cap: expected a token of a configured chain, got base:NONE",
  );
});

test("a treasury contract is deployed, sealed with what it may move, and its directions are listed in two steps [T310]", async () => {
  const file = JSON.parse(readFileSync(EXAMPLE, "utf8"));
  const { treasury: _, ...deployment } = file.deployment;
  const chains = file.chains.map((chain: { readonly preset: string }) =>
    chain.preset === "base"
      ? { ...chain, tokens: [{ symbol: "USDC", inventoryMin: "10", inventoryTarget: "100" }] }
      : chain,
  );
  const change = { deployment, chains, routes: [{ kind: "FAST_MCTP" }] };
  const caps = [{ chain: "base", symbol: "USDC", amount: "50" }];
  const isMover = async () => true;
  const namesOf = async (node: Partial<ChainInspector>) =>
    (await leftOf(node, { change, caps })).steps
      .filter(({ name }) => /treasury|direction|mover/.test(name))
      .map(({ name, by, waitsUntil }) => [name.replaceAll(/0x[0-9a-f]{40}/g, "…"), by, waitsUntil]);
  const nothing = { perDay: 0n, readyAt: 0n };
  const getDirection = async () => ({ perDay: 50_000_000n, pending: nothing });
  expect(await namesOf({ isMover, getDirection, getDailyCap: async () => 50_000_000n })).toEqual(
    [],
  );
  const unsealed = await namesOf({
    hasCode: async (address) => address === file.contracts?.factory,
    getDailyCap: async () => 50_000_000n,
  });
  expect(unsealed).toEqual([
    ["deploy treasury", "anybody", null],
    ["seal the treasury", "owner", null],
  ]);
  const raised = await namesOf({
    isMover: async () => false,
    getReadyAt: async () => NOW_S + 60n,
    getDailyCap: async () => 50_000_000n,
    getDirection: async () => ({ perDay: 1n, pending: { perDay: 50_000_000n, readyAt: NOW_S } }),
  });
  expect(raised).toEqual([
    ["execute the mover …", "owner", "2027-01-15T08:01:00.000Z"],
    ["execute the direction of USDC into the inventory of base, from … to …", "owner", null],
  ]);
});
