/** Solana behind the limits, the words and the latency of each provider that the sandbox imitates: a deposit is delivered once. */
import { readFileSync, writeFileSync } from "node:fs";
import { PROFILE_NAMES, profileOf, type Provider, startProvider } from "@sluice/sandbox/provider";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openSolanaSandbox, type SolanaSandbox, USDC } from "./support/solana-sandbox.ts";

const PROFILES = PROFILE_NAMES.filter((name) => profileOf(name).family === "svm");
const LATENCY_MS = 80;
/** Slots of the sandbox take 50 ms instead of 400, so that the rates are as many times as high. */
const HASTE = 8;
const AMOUNT = 9n * USDC;

let world: SolanaSandbox;
let provider: Provider;

beforeAll(async () => {
  world = await openSolanaSandbox();
  const [profile] = PROFILES;
  if (!profile) throw new Error("the sandbox imitates a provider of Solana");
  provider = await startProvider({ upstream: world.sandbox.solana.rpcUrl, profile });
  const config = JSON.parse(readFileSync(world.configPath, "utf8"));
  const solana = config.chains.find(({ chainId }: { chainId: number }) => chainId === 1);
  delete solana.rpcUrl;
  solana.rpcUrls = [provider.url];
  writeFileSync(world.configPath, JSON.stringify(config));
}, 120_000);
afterAll(async () => {
  await world.close();
  await provider.close();
});

test.each(PROFILES)("a deposit is delivered once through %s", async (profile) => {
  const { ratePerSecond } = profileOf(profile).limits;
  provider.set({
    profile,
    latencyMs: LATENCY_MS,
    ...(ratePerSecond !== null && { ratePerSecond: HASTE * ratePerSecond }),
  });
  await world.restart();
  const { address, paid } = await world.depositUsdc("solana", "base", AMOUNT);
  expect(await world.settled(address)).toMatchObject({
    status: "completed",
    amount: String(AMOUNT),
    error: null,
  });
  expect(await paid()).toBe(AMOUNT - AMOUNT / 1_000n);
  expect(await world.swapsOf(address)).toHaveLength(1);
  expect(provider.stats().byMethod["getBlock"]).toBeGreaterThan(0);
});

test("finally the ledger matches the chains", async () => {
  const report = await world.audit();
  expect(report.breaches).toEqual([]);
});
