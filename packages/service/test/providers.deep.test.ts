/**
 * Real nodes behind the limits, the words and the latency of each provider that the sandbox imitates: deposits of tokens and of
 * native coin, in backfill, at the head and through a reorg, are each delivered once.
 */
import { readFileSync, writeFileSync } from "node:fs";
import {
  PROFILE_NAMES,
  type ProfileName,
  profileOf,
  type Provider,
  startProvider,
} from "@sluice/sandbox/provider";
import { type Address, type Hex, parseEther, zeroAddress } from "viem";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { afterFee, expectDelivered, expectEmptyEscrow, USDC } from "./support/deposits.ts";
import { expectUnbroken } from "./support/history.ts";
import { openWorld, type World } from "./support/world.ts";

/** The profiles in groups that share a world: anvil loses contracts in reorgs of a chain with many more blocks. */
const GROUPS = [
  ...chunk(
    PROFILE_NAMES.filter((name) => profileOf(name).family === "evm"),
    4,
  ),
];

function* chunk<Item>(items: readonly Item[], size: number): Iterable<readonly Item[]> {
  for (let from = 0; from < items.length; from += size) yield items.slice(from, from + size);
}

const LATENCY_MS = 80;
/** Blocks, polls and finality of the test's chains are several times as fast as those of real ones, and so are the rates. */
const HASTE = 4;
/** Blocks that one request of logs may span, where the provider has a limit: a plan at the low end. */
const RANGE_BLOCKS = 20;
/** Blocks below and above the deposits that are missed while the service is down. */
const MISSED_BLOCKS = [20, 180] as const;
/** Blocks from the final one to the head, less one. */
const UNFINAL_BLOCKS = 23n;

/** Blocks behind the head at which a scanner counts as being there: those of two polls. */
const HEAD_LAG_BLOCKS = 2;

/** Blocks that may be mined between the request for the head and the reorg, which would then begin above the payment. */
const MINED_MEANWHILE = 2n;

const TOKENS = 9n * USDC;
const COIN = parseEther("0.01");

let world: World;
const providers: Provider[] = [];

async function openWorldOfProviders(): Promise<void> {
  world = await openWorld({
    blockMs: 500,
    // The final block is twenty-four behind the head.
    slotsInAnEpoch: 12,
    pollIntervalMs: 500,
    telemetry: true,
    nodesOf: async (_, rpcUrl) => [await openProvider(rpcUrl)],
  });
  const config = JSON.parse(readFileSync(world.configPath, "utf8"));
  for (const chain of config.chains) {
    // The attestor has an account of its own.
    const attestorUrl = config.attestor.rpcUrls[chain.chainId];
    config.attestor.rpcUrls[chain.chainId] = await openProvider(attestorUrl);
    chain.balanceCheckIntervalMs = 5_000;
  }
  writeFileSync(world.configPath, JSON.stringify(config));
}

async function closeAll(): Promise<void> {
  await world.close();
  for (const provider of providers.splice(0)) await provider.close();
}

async function openProvider(upstream: string): Promise<string> {
  const provider = await startProvider({ upstream });
  providers.push(provider);
  return provider.url;
}

function setProfile(profile: ProfileName): void {
  const { rangeBlocks, ratePerSecond } = profileOf(profile).limits;
  for (const provider of providers) {
    provider.resetStats();
    provider.set({
      profile,
      latencyMs: LATENCY_MS,
      ...(rangeBlocks !== null && { rangeBlocks: RANGE_BLOCKS }),
      ...(ratePerSecond !== null && { ratePerSecond: HASTE * ratePerSecond }),
    });
  }
}

/** The part of the report on health that the test reads. */
interface Health {
  readonly chains: { readonly ethereum: { readonly lagBlocks: number } };
}

interface Paid {
  readonly recipient: Address;
  readonly address: Address;
  readonly amount: bigint;
  readonly pay: () => Promise<Hex>;
}

/** Returns a deposit of USDC on ethereum for a new recipient on base, still to be paid. */
async function openTokens(): Promise<Paid> {
  const recipient = world.newRecipient();
  const { address } = await world.quote({ from: "ethereum", to: "base", recipient });
  const pay = () => world.pay("ethereum", address, TOKENS);
  return { recipient, address, amount: TOKENS, pay };
}

/** Returns a deposit of native coin for a new recipient on the same chain, still to be paid. */
async function openCoin(): Promise<Paid> {
  const recipient = world.newRecipient();
  const { address } = await world.quote({
    from: "ethereum",
    to: "ethereum",
    recipient,
    fromToken: zeroAddress,
    toToken: zeroAddress,
    amount: COIN,
  });
  const pay = () => world.payNative("ethereum", address, COIN);
  return { recipient, address, amount: COIN, pay };
}

const countOrphaned = () => world.readLog().split("reorg: block orphaned").length - 1;

/** Orphans the blocks from that of a payment on. */
async function reorganiseFrom(payment: Hex, payments: readonly Hex[]): Promise<void> {
  const { client } = world.chains.ethereum;
  const { blockNumber } = await client.getTransactionReceipt({ hash: payment });
  const depth = (await client.getBlockNumber()) - blockNumber + 1n + MINED_MEANWHILE;
  expect(depth, "the deposit is found before it is final").toBeLessThanOrEqual(UNFINAL_BLOCKS);
  const before = countOrphaned();
  await world.reorganise("ethereum", Number(depth), payments);
  await world.until("the scanner has seen the reorg", async () => countOrphaned() > before);
}

async function expectTokensDelivered(paid: Paid): Promise<void> {
  const { id } = await expectDelivered(world, paid);
  await expectUnbroken(world, id);
  expect(await world.balance("ethereum", paid.address)).toBe(0n);
}

async function expectCoinDelivered({ address, recipient, amount }: Paid): Promise<void> {
  expect(await world.settled(address)).toMatchObject({
    status: "completed",
    tokenAddress: zeroAddress,
  });
  expect(await world.nativeBalance("ethereum", recipient)).toBe(afterFee(amount));
  expect(await world.nativeBalance("ethereum", address)).toBe(0n);
}

/** Returns how often the providers have refused a range of blocks. */
function countRangesRefused(profile: ProfileName): number {
  const { range } = profileOf(profile).words;
  return providers.reduce((sum, provider) => sum + (provider.stats().refusals[range] ?? 0), 0);
}

/** Deposits that arrive while the service is down, which it finds in backfill; the blocks between have none. */
async function missWhileDown(profile: ProfileName, paid: readonly Paid[]): Promise<void> {
  await world.killService();
  setProfile(profile);
  const [below, above] = MISSED_BLOCKS;
  await world.chains.mine(below, "ethereum");
  for (const { pay } of paid) await pay();
  await world.chains.mine(above, "ethereum");
  await world.restartService({});
  for (const { address } of paid) await world.deposits(address, 1);
}

/** Waits until the scanner has caught up: deposits from then on are found at the head, long before they are final. */
async function reachHead(): Promise<void> {
  await world.until("the scanner is at the head", async () => {
    const health = await fetch(`${world.telemetryUrl()}/health/ready`);
    // CAST: the report's own test holds its shape.
    const { chains } = (await health.json()) as Health;
    return chains.ethereum.lagBlocks <= HEAD_LAG_BLOCKS;
  });
}

describe.each(GROUPS.map((profiles) => ({ profiles, names: profiles.join(", ") })))(
  "$names",
  ({ profiles }) => {
    beforeAll(openWorldOfProviders);
    afterAll(closeAll);

    test.each(profiles)(
      "deposits in backfill, at the head and in a reorg are delivered once through %s [T44]",
      async (profile) => {
        const tokens = [await openTokens(), await openTokens(), await openTokens()] as const;
        const coins = [await openCoin(), await openCoin()] as const;
        const [missed, found, orphaned] = tokens;
        const [missedCoin, foundCoin] = coins;
        await missWhileDown(profile, [missed, missedCoin]);
        const isLimited = profileOf(profile).limits.rangeBlocks !== null;
        expect(countRangesRefused(profile) > 0).toBe(isLimited);
        await reachHead();
        const payments = [await found.pay(), await foundCoin.pay()];
        const orphanedPayment = await orphaned.pay();
        for (const { address } of [found, foundCoin, orphaned]) await world.deposits(address, 1);
        await reorganiseFrom(orphanedPayment, [...payments, orphanedPayment]);
        for (const paid of tokens) await expectTokensDelivered(paid);
        for (const paid of coins) await expectCoinDelivered(paid);
        for (const { address } of [...tokens, ...coins]) {
          const swaps = await world.swapsOf(address);
          expect(swaps.every(({ terminal }) => terminal)).toBe(true);
        }
      },
    );

    test("no lock is left, and no invariant of the ledger is violated", async () => {
      await expectEmptyEscrow(world);
      expect(world.readLog()).not.toContain("audit: invariants violated");
    });
  },
);
