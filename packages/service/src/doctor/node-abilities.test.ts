/** The measurements of nodes, through providers with their limits in front of a synthetic chain. */
import {
  type ProviderOverrides,
  startProvider,
  startSyntheticChain,
  type SyntheticChainOptions,
} from "@sluice/sandbox/provider";
import { afterEach, describe, expect, test } from "vitest";
import { CHAIN } from "../../test/support/doctor-doubles.ts";
import { createNodeConfig } from "../../test/support/nodes.ts";
import { createTrafficOf } from "../roles/node-traffic.ts";
import { systemClock, systemRandom } from "../roles/system-ports.ts";
import { createEvmInspector } from "../chains/evm/inspector.ts";
import type { ChainInspector } from "../chains/inspector.ts";
import type { EvmChain, NodeConfig } from "../config/index.ts";
import { ok } from "../core/check.ts";
import { OperatingError } from "../core/errors.ts";
import { NATIVE_TOKEN, toEvmAddress } from "../core/hex.ts";
import { checkEvmAbilities } from "./node-abilities.ts";
import { runChecks } from "./run.ts";

const TOKEN = toEvmAddress(`0x${"70".repeat(20)}`);
const EVM_CHAIN_ID = 42_161;

const opened: { close(): Promise<unknown> }[] = [];
afterEach(async () => {
  for (const one of opened.splice(0).toReversed()) await one.close();
});

const [USDC] = CHAIN.tokens;
if (!USDC) throw new Error("expected a token");
const LISTED = [{ ...USDC, address: TOKEN }];
const COIN = { ...USDC, address: NATIVE_TOKEN };

async function examine({
  provider,
  chain = {},
  node = {},
  synthetic = {},
  inspector: changed = {},
}: {
  readonly provider: ProviderOverrides;
  readonly chain?: Partial<EvmChain>;
  readonly node?: Partial<NodeConfig>;
  readonly synthetic?: SyntheticChainOptions;
  /** Replaces some reads of the node. */
  readonly inspector?: Partial<ChainInspector>;
}) {
  const upstream = await startSyntheticChain({
    head: 100_000,
    // Arbitrum's pace; the head itself stands still.
    finalDepth: 100,
    tokens: [TOKEN],
    transactionsPerBlock: 10,
    transfersPerBlock: 10,
    listedShare: 0.1,
    chainId: EVM_CHAIN_ID,
    ...synthetic,
  });
  opened.push(upstream);
  const front = await startProvider({ upstream: upstream.url, ...provider });
  opened.push(front);
  const config: EvmChain = {
    ...CHAIN,
    chainId: 23,
    evmChainId: EVM_CHAIN_ID,
    tokens: LISTED,
    ...chain,
  };
  const settings = { ...createNodeConfig(front.url), ...node };
  const traffic = createTrafficOf({ clock: systemClock, random: systemRandom })(
    { chainId: 23, view: "service", position: 0 },
    settings,
  );
  const inspector = createEvmInspector({
    ...config,
    rpcUrl: front.url,
    traffic,
    timeoutMs: 10_000,
  });
  const identified = {
    id: "node.chain-id",
    subject: "chain",
    needs: [],
    run: () => ok("", ""),
  };
  const checks = checkEvmAbilities(
    config,
    { inspector: { ...inspector, ...changed }, subject: "chain", isOurs: true, node: settings },
    identified,
  );
  const results = await runChecks([[identified, ...checks]]);
  const byId = new Map(results.map((result) => [result.id, result]));
  return {
    names: checks.map(({ id }) => id),
    of: (name: string) => byId.get(`node.${name}`),
    bad: results.filter(({ status }) => status !== "ok").map(({ id, status }) => [id, status]),
    requests: front.stats().requests,
  };
}

describe("a node", () => {
  test("without limits can do everything, and is asked few requests", async () => {
    const { of, bad, requests } = await examine({ provider: { profile: "geth-like" } });
    expect(bad).toEqual([]);
    expect(of("latency")?.found).toMatch(/ms, the median of small requests$/);
    expect(of("pace")?.found).toMatch(/^reads \d+ blocks\/s, \d+ kB each$/);
    expect(of("batches")?.found).toBe("batches of 16 or more");
    expect(of("log-range")?.found).toBe("searches 10,000 blocks or more for logs");
    expect(of("backfill")?.found).toMatch(/^an hour of blocks \(3,600\) in about \d+ s$/);
    expect(requests).toBeLessThan(120);
  });

  test("that is too slow for the chain is a problem", async () => {
    const { of } = await examine({
      provider: { profile: "geth-like", latencyMs: 200 },
      synthetic: { blocksPerSecond: 60 },
    });
    expect(of("pace")).toMatchObject({
      status: "problem",
      expected: expect.stringMatching(/^at least twice the chain's pace of \d\d blocks\/s$/),
    });
  }, 30_000);

  test("has to know the safe block where a tier of early payouts waits for it", async () => {
    const early = (after: number | "safe") => ({
      earlyPayouts: {
        exposure: 1n,
        tiers: [{ after, upTo: 1n }],
        exceptions: [],
        acceptedLosses: [],
      },
    });
    const provider = { profile: "geth-like" } as const;
    expect((await examine({ provider, chain: early(2) })).of("safe")).toBeUndefined();
    expect((await examine({ provider, chain: early("safe") })).of("safe")).toMatchObject({
      status: "ok",
      found: "safe block 99900 of 99900 to 100000",
    });
    const getSafeHead = () =>
      Promise.reject(new OperatingError("RPC_UNAVAILABLE", "The node does not know the tag."));
    const unknown = await examine({ provider, chain: early("safe"), inspector: { getSafeHead } });
    expect(unknown.of("safe")).toMatchObject({ status: "problem", found: "no safe block" });
  });

  test("without batches is noted, and passes where it keeps pace", async () => {
    const { of, bad } = await examine({
      provider: { profile: "cloudflare-like", ratePerSecond: null, rangeBlocks: null },
    });
    expect(of("batches")).toMatchObject({ status: "ok", found: "no batches" });
    expect(bad).toEqual([]);
  });

  test("with small batches is noted with their size", async () => {
    const { of } = await examine({ provider: { profile: "drpc-like", ratePerSecond: null } });
    expect(of("batches")?.found).toBe("batches of at most 3");
  });

  test("with ranges of ten blocks is a warning", async () => {
    const { of } = await examine({
      provider: { profile: "alchemy-like", ratePerSecond: null, rangeBlocks: 10 },
    });
    expect(of("log-range")).toMatchObject({
      status: "warning",
      found: "searches 10 blocks for logs",
      expected: "at least 500 blocks",
    });
  });

  test("with too low a rate for the chain is a problem", async () => {
    const { of } = await examine({
      provider: { profile: "geth-like", ratePerSecond: 10 },
      synthetic: { blocksPerSecond: 12 },
    });
    expect(of("rate")).toMatchObject({
      status: "problem",
      found: expect.stringMatching(/^accepts about \d/),
      expected: expect.stringMatching(/^at least 26 requests\/s and 2,2\d\d,\d{3} a day$/),
    });
    expect(of("pace")?.status).toBe("problem");
  }, 60_000);

  test("with a daily budget below the pace of the chain is a problem", async () => {
    const { of } = await examine({
      provider: { profile: "geth-like" },
      node: { requestsPerSecond: 50, requestsPerDay: 100_000 },
    });
    expect(of("rate")).toMatchObject({
      status: "problem",
      found: expect.stringMatching(/, requestsPerSecond 50, requestsPerDay 100000$/),
      expected: "at least 2.2 requests/s and 190,080 a day",
    });
  });

  test("without traces is a warning where the configuration turns them on", async () => {
    const { of } = await examine({
      provider: { profile: "alchemy-like", ratePerSecond: null },
      chain: { traces: true },
    });
    expect(of("traces")).toMatchObject({ status: "warning", found: "no answer (no traces)" });
  });

  test("with pruned state is a problem, and is found with the native coin too", async () => {
    const { of, bad } = await examine({
      provider: { profile: "geth-like", stateBlocks: 50 },
      chain: { tokens: [...LISTED, COIN] },
    });
    expect(of("state")).toMatchObject({ status: "problem", found: "no answer (state pruned)" });
    expect(of("pace")?.found).toMatch(/blocks with the native coin\/s/);
    expect(bad).toEqual([["node.state", "problem"]]);
  });

  test("that is only a witness is measured for its own reads", async () => {
    const { names, bad } = await examine({
      provider: { profile: "geth-like" },
      node: { role: "witness" },
    });
    expect(names).toEqual(["node.latency", "node.receipts"]);
    expect(bad).toEqual([]);
  });
});
