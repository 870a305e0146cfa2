/**
 * Minimums from the configuration, with prices from real servers on loopback, through everything that uses them: the gate,
 * the interface, the sweep and the quote.
 */
import { onTestFinished, describe, expect, test } from "vitest";
import { startApi } from "../../test/support/api.ts";
import { createDoctorDeps, CHAIN } from "../../test/support/doctor-doubles.ts";
import {
  BELIEVED_ATTESTOR,
  createStrictChain,
  silentLog,
  unseenMetrics,
} from "../../test/support/doubles.ts";
import {
  type Behaviour,
  breaksOff,
  endless,
  HTML,
  priced,
  type PriceServer,
  says,
  silent,
  startPriceServer,
} from "../../test/support/price-server.ts";
import { openDesk, RECIPIENT, ROUTE, USDC } from "../../test/support/settlement-desk.ts";
import { PEPPER } from "../../test/support/tenants.ts";
import { toChecksumAddress } from "../chains/evm/checksum.ts";
import type { Chains } from "../chains/port/index.ts";
import type { ChainConfig, HttpPriceConfig, TokenConfig } from "../config/index.ts";
import { parseUnits } from "../core/amounts.ts";
import { NATIVE_TOKEN } from "../core/hex.ts";
import { createKey } from "../integrators/index.ts";
import { quote } from "../quotes/index.ts";
import { requestIndex } from "../settlements/index.ts";
import { createMetrics } from "../telemetry/metrics.ts";
import { addressFormat } from "./address-format.ts";
import { createConfiguredFees } from "./fees.ts";
import { createConfiguredPrices } from "./prices.ts";
import { createMinimums } from "./settlement-deps.ts";
import { systemHttp, systemRandom } from "./system-ports.ts";
import { createRoutes } from "../routes/index.ts";
import { configuredRoute } from "../../test/support/routes.ts";

const USD = 10n ** 18n;
const AGE_MS = 60_000;
/** Longer than a price is cached. */
const LATER_MS = 10_000;
/** Time limit for servers that never answer; the others get the time that a busy machine needs. */
const IMPATIENT_MS = 250;
const PATIENT_MS = 30_000;

function createSource(server: PriceServer): HttpPriceConfig {
  return {
    url: server.url,
    headers: new Map(),
    pointer: ["usd"],
    timestampPointer: undefined,
    scale: 0,
    maxAgeMs: AGE_MS,
  };
}

interface Terms {
  readonly decimals: number;
  readonly minDepositUnits?: string;
  readonly minDepositUsd?: bigint;
  readonly sources: readonly HttpPriceConfig[];
}

/** Opens a desk with one token, whose minimums come from a configuration. */
async function openTerms({ decimals, minDepositUnits, minDepositUsd, sources }: Terms) {
  const desk = await openDesk();
  const { db, clock, deps } = desk;
  const token: TokenConfig = {
    symbol: "USDC",
    address: USDC,
    decimals,
    minDepositUnits,
    minDeposit: minDepositUnits === undefined ? undefined : parseUnits(minDepositUnits, decimals),
    inventoryMin: undefined,
    inventoryTarget: undefined,
    price: { fixed: undefined, feeds: [], http: sources, maxDeviationBps: 200 },
  };
  const ethereum: ChainConfig = { ...CHAIN, minDepositUsd, tokens: [token] };
  const coin: TokenConfig = {
    ...token,
    symbol: "BASE",
    address: NATIVE_TOKEN,
    decimals: 18,
    price: { fixed: 1_000n * USD, feeds: [], http: [], maxDeviationBps: 0 },
  };
  const base: ChainConfig = { ...CHAIN, chainId: 30, name: "base", tokens: [coin] };
  const { config } = createDoctorDeps({
    config: {
      chains: [ethereum, base],
      routes: [
        configuredRoute({
          kind: "SWIFT",
          chainId: 2,
          token: USDC,
          destChain: 30,
          destToken: NATIVE_TOKEN,
          contract: ROUTE,
          priced: true,
        }),
      ],
    },
  });
  const metrics = createMetrics();
  /** URLs of servers that never answer. */
  const slow = new Set<string>();
  const chains: Chains = new Map([...desk.deps.chains, [30, createStrictChain({ chainId: 30 })]]);
  const prices = createConfiguredPrices(config, {
    chains,
    http: (request) =>
      systemHttp({ ...request, timeoutMs: slow.has(request.url) ? IMPATIENT_MS : PATIENT_MS }),
    clock,
    log: silentLog,
    metrics,
  });
  desk.state.readMinimums = createMinimums({ config, prices, log: silentLog });

  const random = systemRandom;
  const keys = { db, random, pepper: PEPPER };
  const { apiKey } = await createKey(keys, {
    integrator: desk.integratorId,
    depositAddresses: true,
  });
  const api = await startApi({
    db,
    scanned: [ethereum],
    requestIndex: (request) => requestIndex(deps, request),
  });
  onTestFinished(api.close);

  const issue = () => desk.issue(`0x${systemRandom.uuid().replaceAll("-", "")}`);
  /** Returns the gate's verdict on a deposit that results in this balance. */
  async function deposit(amount: bigint) {
    desk.state.balance = amount;
    const address = await issue();
    await desk.arrive(address, { amount, block: 100n });
    const events = await desk.events();
    const { data } = events.filter(({ type }) => type === "deposit_detected").at(-1) ?? {};
    return { address, data };
  }
  /** Returns the API's answer to a request for this balance. */
  async function request(amount: bigint) {
    desk.state.balance = amount;
    const { wallet } = await issue();
    const body = { walletAddress: wallet, tokenAddress: USDC, chain: 2 };
    const ask = async (): Promise<{ readonly queued: boolean; readonly reason: string | null }> => {
      const answer = await fetch(`${api.url}/request-index`, {
        method: "POST",
        headers: { "x-api-key": apiKey, "content-type": "application/json" },
        body: JSON.stringify(body),
      });
      expect(answer.status).toBe(200);
      // CAST: the form of the interface; the API's own tests compare it with the schema.
      return (await answer.json()) as Awaited<ReturnType<typeof ask>>;
    };
    return { ask, ...(await ask()) };
  }
  async function ask(): Promise<string> {
    const wakeAttestor = () => undefined;
    const { quotes } = await quote(
      {
        db,
        clock,
        random,
        chains,
        routes: createRoutes(config, {
          random: systemRandom,
          attestations: null,
          attestors: BELIEVED_ATTESTOR,
          db,
          clock,
          log: silentLog,
          metrics: unseenMetrics,
          chains,
          prices,
          wakeAttestor,
        }),
        fees: createConfiguredFees({ config, db, chains, prices, clock }),
        tokens: config.chains.flatMap((chain) =>
          chain.tokens.map((listed) => ({ ...listed, chainId: chain.chainId, evmChainId: 1 })),
        ),
        evmChainIds: new Map(),
        format: addressFormat,
        reserved: new Set(),
        caps: { maxFeeBps: 0, maxSlippageBps: 0 },
      },
      {
        amountIn64: (10n ** BigInt(decimals)).toString(),
        fromChain: "ethereum",
        fromToken: USDC,
        toChain: "base",
        toToken: NATIVE_TOKEN,
        destinationAddress: toChecksumAddress(RECIPIENT),
      },
      {
        integratorId: desk.integratorId,
        integratorName: "acme",
        keyId: desk.integratorId,
        depositAddresses: true,
      },
    );
    return quotes[0]?.expectedAmountOutBaseUnits ?? "none";
  }
  async function countUnavailable(): Promise<Readonly<Record<string, number>>> {
    const { values } = await metrics.pricesUnavailable.get();
    const seen = values.filter(({ value }) => value > 0);
    return Object.fromEntries(seen.map(({ labels, value }) => [String(labels.reason), value]));
  }
  const sourceConfig = async (): Promise<unknown> =>
    (await fetch(`${api.url}/source-config`)).json();
  return { desk, slow, deposit, request, quote: ask, countUnavailable, sourceConfig };
}

/** Start of the desk's clock, in Unix seconds. */
const START_S = Date.parse("2026-01-01T00:00:00.000Z") / 1_000;
const timed = (atS: number) => says(`{"usd":1,"at":${atS}}`);

const FAULTS: readonly (readonly [string, string, Behaviour])[] = [
  ["a thousand times as high", "sources_disagree", priced("1000")],
  ["a little more than two percent off", "sources_disagree", priced("1.0200000001")],
  ["zero", "out_of_range", priced("0")],
  ["below zero", "out_of_range", priced("-1")],
  ["NaN", "bad_answer", priced("NaN")],
  ["a huge exponent", "out_of_range", priced("1e999")],
  ["a page for people", "bad_answer", HTML],
  ["an error", "no_answer", says('{"usd":1}', 500)],
  ["somewhere else", "no_answer", says('{"usd":1}', 302, { location: "/elsewhere" })],
  ["nothing", "no_answer", silent],
  ["without end", "no_answer", endless],
  ["half of it", "no_answer", breaksOff],
];

describe("a price that cannot be trusted", () => {
  test.each(FAULTS)(
    "defers deposits, requests, sweeps and quotes until it recovers: %s [T56]",
    async (_, reason, fault) => {
      const [good, bad] = [await startPriceServer(priced("1")), await startPriceServer(fault)];
      const desk = await openTerms({
        decimals: 6,
        minDepositUsd: 10n * USD,
        sources: [createSource(good), createSource(bad)],
      });
      if (fault === silent) desk.slow.add(bad.url);
      await expectHeldUp(desk, reason);
      desk.slow.clear();
      bad.behave(priced("1"));
      await expectRecovered(desk);
    },
  );

  test.each([
    ["old", "too_old", START_S - AGE_MS / 1_000 - 1],
    ["from the future", "from_the_future", START_S + 3_600],
  ])("includes one that is %s [T56]", async (_, reason, atS) => {
    const [good, bad] = [await startPriceServer(priced("1")), await startPriceServer(timed(atS))];
    const desk = await openTerms({
      decimals: 6,
      minDepositUsd: 10n * USD,
      sources: [createSource(good), { ...createSource(bad), timestampPointer: ["at"] }],
    });
    await expectHeldUp(desk, reason);
    bad.behave((response, request) => timed(desk.desk.clock.now() / 1_000)(response, request));
    await expectRecovered(desk);
  });

  test("does not follow from one silent or absurd source of three [T56]", async () => {
    const servers = [
      await startPriceServer(priced("1")),
      await startPriceServer(priced("1.01")),
      await startPriceServer(silent),
    ];
    const { deposit, desk, slow, countUnavailable } = await openTerms({
      decimals: 6,
      minDepositUsd: 10n * USD,
      sources: servers.map(createSource),
    });
    for (const fault of [silent, HTML, priced("0"), priced("-5"), priced("1e30")]) {
      servers[2]?.behave(fault);
      slow.clear();
      if (fault === silent) slow.add(servers[2]?.url ?? "");
      desk.clock.advance(LATER_MS);
      // The lower price of the two remaining sources.
      const refusal = { queued: false, ignoredReason: "below_min" };
      expect((await deposit(9_999_999n)).data).toMatchObject(refusal);
      expect((await deposit(10_000_000n)).data).toMatchObject({ queued: true });
    }
    expect(await countUnavailable()).toEqual({});
  });
});

type Opened = Awaited<ReturnType<typeof openTerms>>;

/** Expects that an unknown price refuses nothing, and that nothing moves. */
async function expectHeldUp({ desk, ...opened }: Opened, reason: string): Promise<void> {
  const refusal = { code: "PRICE_UNAVAILABLE", details: { reason } };
  await expect(opened.quote()).rejects.toMatchObject(refusal);
  // Below the minimum, which cannot be computed without a price.
  const { data } = await opened.deposit(9_999_999n);
  expect(data).toMatchObject({ queued: true });
  const { queued, reason: why, ask } = await opened.request(10_000_000n);
  expect([queued, why]).toEqual([true, null]);
  expect(await ask()).toMatchObject({ queued: false, reason: "already_queued" });
  await desk.poll();
  await desk.poll();
  const waiting = {
    status: "failed_swap",
    error: { code: "PRICE_UNAVAILABLE", retryable: true },
  };
  expect(await desk.swaps()).toMatchObject([waiting, waiting]);
  const rows = await desk.db.selectFrom("settlements").select("attempts_used").execute();
  expect(rows).toEqual([{ attempts_used: 0 }, { attempts_used: 0 }]);
  const counted = await opened.countUnavailable();
  expect(Object.keys(counted)).toEqual([reason]);
}

async function expectRecovered({ desk, ...opened }: Opened): Promise<void> {
  desk.clock.advance(LATER_MS);
  // One unit at one dollar, with the coin at a thousand dollars, less the service's fee.
  expect(await opened.quote()).toBe("1000000000000000");
  desk.state.balance = 10_000_000n;
  await desk.poll();
  const swept = { status: "swapping", error: null };
  expect(await desk.swaps()).toMatchObject([swept, swept]);
  expect((await opened.deposit(9_999_999n)).data).toMatchObject({ ignoredReason: "below_min" });
}

describe("minimums", () => {
  /** Ten dollars at 3.1 dollars: 3.22580645161290322580…, and the least balance that reaches it. */
  const FLOORS = [
    [6, 3_225_807n, "1.5", 1_500_000n],
    [8, 322_580_646n, "1.00000001", 100_000_001n],
    [18, 3_225_806_451_612_903_226n, "0.000000000000000002", 2n],
  ] as const;

  /** Returns the verdicts for balances just below, at and just above; gate and request must agree. */
  async function judge(opened: Opened, least: bigint) {
    const verdicts = [];
    for (const balance of [least - 1n, least, least + 1n]) {
      const { data } = await opened.deposit(balance);
      const { queued, reason } = await opened.request(balance);
      const ignoredReason = data && "ignoredReason" in data ? data.ignoredReason : null;
      const told = data && "queued" in data ? data.queued : undefined;
      expect([told, ignoredReason ?? null]).toEqual([queued, reason]);
      verdicts.push(reason ?? "queued");
    }
    return verdicts;
  }

  test.each(FLOORS)(
    "in dollars, of a chain, hold to the unit with %i decimals at the current price",
    async (decimals, least) => {
      const servers = [
        await startPriceServer(priced("3.1")),
        await startPriceServer(priced("3.1")),
      ];
      const opened = await openTerms({
        decimals,
        minDepositUsd: 10n * USD,
        sources: servers.map(createSource),
      });
      const [below, there] = ["below_min", "queued"];
      expect(await judge(opened, least)).toEqual([below, there, there]);
      for (const [price, units] of [
        ["2.5", "4"],
        ["3.2", "3.125"],
      ] as const) {
        for (const server of servers) server.behave(priced(price));
        opened.desk.clock.advance(LATER_MS);
        expect(await judge(opened, parseUnits(units, decimals))).toEqual([below, there, there]);
      }
    },
  );

  test.each(FLOORS)(
    "in units, of a token, hold to the unit with %i decimals and are shown as configured",
    async (decimals, _, minDepositUnits, least) => {
      const opened = await openTerms({ decimals, minDepositUnits, sources: [] });
      const verdicts = ["below_token_min", "queued", "queued"];
      expect(await judge(opened, least)).toEqual(verdicts);
      const shown = await opened.sourceConfig();
      expect(shown).toEqual({
        chains: [
          {
            chainId: 2,
            name: "ethereum",
            kind: "evm",
            tokens: [
              {
                address: toChecksumAddress(USDC),
                symbol: "USDC",
                standard: "erc20",
                decimals,
                minDeposit: minDepositUnits,
              },
            ],
          },
        ],
      });
      expect(parseUnits(minDepositUnits, decimals)).toBe(least);
    },
  );

  test("are checked in order: the token's, then the chain's", async () => {
    const server = await startPriceServer(priced("3.1"));
    const terms = { decimals: 6, sources: [createSource(server)] };
    const higher = await openTerms({ ...terms, minDepositUnits: "2", minDepositUsd: 10n * USD });
    expect(await judge(higher, 2_000_000n)).toEqual(["below_token_min", "below_min", "below_min"]);
    expect(await judge(higher, 3_225_807n)).toEqual(["below_min", "queued", "queued"]);
    const lower = await openTerms({ ...terms, minDepositUnits: "4", minDepositUsd: 10n * USD });
    expect(await judge(lower, 4_000_000n)).toEqual(["below_token_min", "queued", "queued"]);
    // Without a price the token's minimum still applies.
    server.behave(HTML);
    lower.desk.clock.advance(LATER_MS);
    expect(await judge(lower, 4_000_000n)).toEqual(["below_token_min", "queued", "queued"]);
  });

  test("are never reached by an empty balance, and query no source where none is configured", async () => {
    const server = await startPriceServer(priced("1"));
    const opened = await openTerms({ decimals: 6, sources: [createSource(server)] });
    expect(await opened.request(0n)).toMatchObject({ queued: false, reason: "below_min" });
    expect(await judge(opened, 2n)).toEqual(["queued", "queued", "queued"]);
    expect(server.asked).toEqual([]);
  });
});
