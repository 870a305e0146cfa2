/**
 * Three Solana nodes with a quorum of two: with one that lies, is dead or limits the request rate, a deposit is delivered once;
 * without a quorum nothing is decided and nothing is lost.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import {
  type Tamper,
  type TamperingProxy,
  startTamperingProxy,
} from "./support/tampering-proxy.ts";
import { openSolanaSandbox, type SolanaSandbox, USDC } from "./support/solana-sandbox.ts";

const AMOUNT = 9n * USDC;
const PAID = AMOUNT - AMOUNT / 1_000n;
/** Long enough for many polls of every loop. */
const STANDSTILL_MS = 4_000;

let world: SolanaSandbox;
const nodes: TamperingProxy[] = [];

beforeAll(async () => {
  world = await openSolanaSandbox();
  for (let at = 0; at < 3; at += 1)
    nodes.push(await startTamperingProxy(world.sandbox.solana.rpcUrl));
  const rpcUrls = nodes.map(({ url }) => url);
  const config = JSON.parse(readFileSync(world.configPath, "utf8"));
  const solana = config.chains.find(({ chainId }: { chainId: number }) => chainId === 1);
  delete solana.rpcUrl;
  solana.rpcUrls = rpcUrls;
  config.attestor.rpcUrls["1"] = rpcUrls;
  writeFileSync(world.configPath, JSON.stringify(config));
  await world.restart();
}, 120_000);
afterAll(async () => {
  await world.close();
  await Promise.all(nodes.map((node) => node.close()));
});

const honest: Tamper = (_, said) => said;
const dead: Tamper = () => 503;
const limiting: Tamper = () => 429;
/** Multiplies every token amount by ten, in blocks and in balances. */
const inflating: Tamper = ({ method }, said) =>
  method === "getBlock" || method === "getTransaction"
    ? change(said, /("postTokenBalances":.*?)"amount":"(\d+)"/g, '$1"amount":"$20"')
    : said;
/** Answers with blocks without their transactions. */
const hiding: Tamper = ({ method }, said) =>
  method === "getBlock" ? change(said, /"transactions":\[.*\]/, '"transactions":[]') : said;
/** Answers with a head that is some slots old. */
const behind: Tamper = ({ method }, said) =>
  ["getSlot", "getBlockHeight"].includes(method) && typeof said.result === "number"
    ? { result: Math.max(0, said.result - 200) }
    : said;

function change(said: Parameters<Tamper>[1], from: RegExp, to: string): Parameters<Tamper>[1] {
  if (said.result === undefined || said.result === null) return said;
  return { result: JSON.parse(JSON.stringify(said.result).replace(from, to)) };
}

function setMoods(...moods: readonly [Tamper, Tamper, Tamper]): void {
  for (const [at, node] of nodes.entries()) node.tamper = moods[at] ?? honest;
}

const pay = () => world.depositUsdc("solana", "base", AMOUNT);

async function expectDeliveredOnce({ address, paid }: Awaited<ReturnType<typeof pay>>) {
  const swap = await world.settled(address);
  expect(swap).toMatchObject({ status: "completed", amount: String(AMOUNT), error: null });
  expect(await paid()).toBe(PAID);
  expect(await world.swapsOf(address)).toHaveLength(1);
}

test.each([
  ["reports false amounts", inflating],
  ["hides transactions", hiding],
  ["lags", behind],
  ["limits the request rate", limiting],
  ["is dead", dead],
])("a deposit is delivered once when one node of three %s [T48, T49]", async (_, mood) => {
  // Each behaviour gets another node.
  nodes.push(...nodes.splice(0, 1));
  setMoods(honest, honest, mood);
  await expectDeliveredOnce(await pay());
});

test.each([
  ["are dead", dead, dead],
  ["are dead and report false amounts", dead, inflating],
  ["limit the request rate and hide transactions", limiting, hiding],
])(
  "nothing moves while two nodes of three %s, and the deposit is delivered after [T49]",
  async (_, one, other) => {
    setMoods(honest, honest, honest);
    const waiting = await pay();
    setMoods(honest, one, other);
    const known = await world.deposits(waiting.address);
    const swaps = (await world.swapsOf(waiting.address)).map(({ status }) => status);
    await delay(STANDSTILL_MS);
    expect(await world.deposits(waiting.address)).toBe(known);
    expect((await world.swapsOf(waiting.address)).map(({ status }) => status)).toEqual(swaps);
    expect(await waiting.paid()).toBe(0n);
    setMoods(honest, honest, other);
    await expectDeliveredOnce(waiting);
  },
);

test("finally the ledger matches the chains", async () => {
  setMoods(honest, honest, honest);
  const report = await world.audit();
  expect(report.breaches).toEqual([]);
  expect(report.ok).toBe(true);
});
