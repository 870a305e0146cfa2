import { describe, expect, test } from "vitest";
import {
  CHAIN,
  createDoctorDeps,
  createStrictInspector,
  createStrictSolanaInspector,
  nodesFor,
  SOLANA_CHAIN,
  SOLANA_USDC,
  USDC,
} from "../../test/support/doctor-doubles.ts";
import type { ChainConfig, GasPolicy, RouteConfig, TokenConfig } from "../config/index.ts";
import { OperatingError } from "../core/errors.ts";
import { NATIVE_SOL, NATIVE_TOKEN, toEvmAddress } from "../core/hex.ts";
import type { PriceReport, PriceRefusal, Prices } from "../prices/index.ts";
import type { DoctorDeps } from "./facts.ts";
import { checkPrices } from "./prices.ts";
import { runChecks } from "./run.ts";
import { configuredRoute } from "../../test/support/routes.ts";

const USD = 10n ** 18n;
const FEED = { address: USDC, maxAgeMs: 1 };
const PRICE = { fixed: USD, feeds: [FEED], http: [], maxDeviationBps: 1 };
const DAI = toEvmAddress(`0x${"da".repeat(20)}`);
const usdc = findToken();
const coin = { ...usdc, symbol: "ETHEREUM", address: NATIVE_TOKEN, decimals: 18 };
const STAYS: RouteConfig = configuredRoute({
  kind: "MONO_CHAIN",
  chainId: 2,
  token: USDC,
  contract: USDC,
});

function findToken(): TokenConfig {
  const [token] = CHAIN.tokens;
  if (!token) throw new Error("the chain has a token");
  return token;
}

function examine(given: {
  readonly tokens?: ChainConfig["tokens"];
  readonly minDepositUsd?: bigint;
  readonly gas?: GasPolicy;
  readonly surcharge?: bigint;
  readonly feePerGas?: bigint;
  readonly evmChainId?: number;
  readonly readReport?: Prices["readReport"];
  readonly listIntegrators?: DoctorDeps["listIntegrators"];
}) {
  const chain = {
    ...CHAIN,
    evmChainId: given.evmChainId ?? 1,
    tokens: given.tokens ?? [
      { ...usdc, price: PRICE },
      { ...coin, price: PRICE },
    ],
    minDepositUsd: given.minDepositUsd,
    transactionSurcharge: given.surcharge ?? 0n,
  };
  const node = createStrictInspector({
    readSurcharge: async () => 0n,
    // Without a base fee, a unit of gas costs only the tip.
    suggestFees: async () => ({
      gasPriceMax: given.feePerGas ?? 0n,
      tipMax: given.feePerGas ?? 0n,
    }),
  });
  const deps = createDoctorDeps({
    chain,
    config: { routes: [STAYS], gas: given.gas ?? "sponsored" },
    nodes: nodesFor(node),
    listIntegrators: given.listIntegrators ?? (async () => []),
    prices: {
      readUsd: async ({ token }) => (token === NATIVE_TOKEN ? 3_000n * USD : USD),
      readReport:
        given.readReport ?? (() => Promise.reject(new Error("unexpected read of a report"))),
    },
  });
  return runChecks([checkPrices(deps, new Map())]);
}

const examineOnly = async (id: string, given: Parameters<typeof examine>[0]) =>
  (await examine(given)).filter((result) => result.id === id);

test("warns when the fee of the smallest deposit is below its gas", async () => {
  // 10 basis points of one dollar; 133,000 gas at a thousandth of a gwei are 0.000399 dollars.
  expect(await examineOnly("terms.cost", { feePerGas: 10n ** 6n })).toMatchObject([
    {
      id: "terms.cost",
      status: "ok",
      found: "about 0.000399 US dollars of gas; the fee is 0.001",
    },
  ]);
  expect(await examineOnly("terms.cost", { feePerGas: 10n ** 9n })).toMatchObject([
    {
      id: "terms.cost",
      status: "warning",
      found: "about 0.399 US dollars of gas; the fee is 0.001",
    },
  ]);
});

test("includes the cost of a payment on Solana, with the rent of a new account", async () => {
  const route: RouteConfig = configuredRoute({
    kind: "SWIFT",
    chainId: 2,
    token: USDC,
    destChain: 1,
    destToken: SOLANA_USDC,
    priced: false,
    contract: USDC,
  });
  const chain = {
    ...CHAIN,
    evmChainId: 1,
    tokens: [
      { ...usdc, price: PRICE },
      { ...coin, price: PRICE },
    ],
  };
  const solana = {
    ...SOLANA_CHAIN,
    tokens: SOLANA_CHAIN.tokens.map((token) => ({ ...token, price: PRICE })),
  };
  const nothing = async () => ({ gasPriceMax: 0n, tipMax: 0n });
  const deps = createDoctorDeps({
    config: { chains: [chain, solana], routes: [route] },
    nodes: nodesFor(createStrictInspector({ suggestFees: nothing, readSurcharge: async () => 0n })),
    solanaNodes: nodesFor(
      createStrictSolanaInspector({
        getTransactionCost: async (paysRecipient) => (paysRecipient ? 3_000_000n : 15_000n),
      }),
    ),
    listIntegrators: async () => [],
    prices: {
      readUsd: async ({ token }) => (token === NATIVE_SOL ? 150n * USD : USD),
      readReport: () => Promise.reject(new Error("unexpected read of a report")),
    },
  });
  const results = await runChecks([checkPrices(deps, new Map())]);
  expect(results.filter(({ id }) => id === "terms.cost")).toMatchObject([
    { status: "warning", found: "about 0.45 US dollars of gas; the fee is 0.001" },
  ]);
});

test("reports charged gas above the fee cap of the smallest deposit as a problem", async () => {
  // 50 basis points of one dollar are 0.005 dollars; 133,000 gas at a hundredth of a gwei are 0.00399.
  const charged = async (feePerGas: bigint, surcharge = 0n) => {
    const source = { source: "static", fault: null, detail: null } as const;
    const results = await examine({
      gas: "charged",
      feePerGas,
      surcharge,
      readReport: async () => report("price", [source]),
    });
    return results.filter(({ id }) => id === "price.source" || id === "terms.cost");
  };
  const costOf = async (...args: Parameters<typeof charged>) => (await charged(...args)).at(-1);
  expect(await charged(10n ** 7n)).toMatchObject([
    { id: "price.source", item: "USDC of chain 2", status: "ok" },
    { id: "price.source", item: "ETHEREUM of chain 2", status: "ok" },
    {
      id: "terms.cost",
      status: "ok",
      found: "about 0.00399 US dollars of gas; the fee cap is 0.005",
    },
  ]);
  expect(await costOf(13n * 10n ** 6n)).toMatchObject({
    id: "terms.cost",
    status: "problem",
    found: "about 0.005187 US dollars of gas; the fee cap is 0.005",
  });
  // The transaction costs 0.0012 dollars on top.
  expect(await costOf(10n ** 7n, 4n * 10n ** 11n)).toMatchObject({
    status: "problem",
    found: "about 0.00519 US dollars of gas; the fee cap is 0.005",
  });
});

describe("with terms of integrators", () => {
  // 133,000 gas at a thousandth of a gwei are 0.000399 dollars; 10 basis points of one dollar are 0.001.
  const costOf = (
    integrators: Awaited<ReturnType<DoctorDeps["listIntegrators"]>>,
    gas?: GasPolicy,
  ) =>
    examineOnly("terms.cost", {
      feePerGas: 10n ** 6n,
      listIntegrators: async () => integrators,
      ...(gas && { gas, readReport: async () => report("price") }),
    });

  test("reports a problem when gas is charged to an integrator above its fee cap", async () => {
    const sponsored = { name: "shop", gas: null, maxFeeBps: 3 };
    const charged = { name: "till", gas: "charged", maxFeeBps: 3 } as const;
    expect(await costOf([sponsored, charged])).toMatchObject([
      {
        status: "problem",
        found: "about 0.000399 US dollars of gas; the fee cap of integrator till is 0.0003",
      },
    ]);
  });

  test("warns when an integrator's fee cap lowers the fee below the gas", async () => {
    expect(await costOf([{ name: "shop", gas: null, maxFeeBps: 3 }])).toMatchObject([
      {
        status: "warning",
        found: "about 0.000399 US dollars of gas; the fee of integrator shop is 0.0003",
      },
    ]);
  });

  test("reports the configuration's terms when every integrator's are equal or better", async () => {
    const found = "about 0.000399 US dollars of gas; the fee cap is 0.005";
    const rich = { name: "rich", gas: "sponsored", maxFeeBps: 500 } as const;
    expect(await costOf([rich], "charged")).toMatchObject([{ status: "ok", found }]);
    const poor = { name: "poor", gas: null, maxFeeBps: 3 };
    expect(await costOf([rich, poor], "charged")).toMatchObject([{ status: "problem" }]);
  });

  test("needs prices when gas is charged only to an integrator", async () => {
    const results = await examineOnly("terms.cost", {
      tokens: [{ ...usdc, price: PRICE }],
      listIntegrators: async () => [{ name: "till", gas: "charged", maxFeeBps: 50 }],
    });
    expect(results).toMatchObject([
      {
        status: "problem",
        found: "the native coin of chain 2 has no price, but gas of integrator till is charged",
      },
    ]);
  });

  test("judges only the configuration's terms, and says so, without a database", async () => {
    const results = await examineOnly("terms.cost", {
      feePerGas: 10n ** 6n,
      listIntegrators: () => Promise.reject(new OperatingError("CONFIG_MISSING", "no database")),
    });
    expect(results).toMatchObject([
      {
        status: "ok",
        found:
          "about 0.000399 US dollars of gas; the fee is 0.001; integrators left out: the database cannot be read",
      },
    ]);
  });
});

test.each([
  ["the native coin of chain 2 has no price", [{ ...usdc, price: PRICE }]],
  ["USDC has no price", [usdc, { ...coin, price: PRICE }]],
  ["no minDeposit", [{ ...usdc, price: PRICE, minDeposit: undefined }]],
])("skips the cost with its reason: %s", async (found, tokens) => {
  const results = await examineOnly("terms.cost", { tokens });
  expect(results).toMatchObject([{ id: "terms.cost", status: "skipped", found }]);
});

const report = (
  reason: "price" | PriceRefusal,
  sources: PriceReport["sources"] = [],
): PriceReport => ({
  result: reason === "price" ? { kind: "price", usd: USD } : { kind: "unavailable", reason },
  sources,
});

test("requires usable prices for a minimum in US dollars, and names the failing sources", async () => {
  const results = await examineOnly("price.source", {
    minDepositUsd: USD,
    tokens: [
      { ...usdc, price: PRICE },
      { ...coin, price: PRICE },
      { ...usdc, symbol: "DAI", address: DAI, price: PRICE },
    ],
    readReport: async ({ token }) => {
      const away = { source: "http[0]", fault: "no_answer", detail: "status 403" } as const;
      if (token === USDC) return report("no_answer", [away]);
      if (token === NATIVE_TOKEN) {
        return report("price", [{ source: "static", fault: null, detail: null }]);
      }
      return report("price", [{ source: "feeds[0]", fault: "too_old", detail: null }]);
    },
  });
  expect(results).toMatchObject([
    {
      item: "USDC of chain 2",
      status: "problem",
      found: "no price: no_answer; http[0] no_answer (status 403)",
    },
    { item: "ETHEREUM of chain 2", status: "ok", found: "1 US dollars" },
    { item: "DAI of chain 2", status: "warning", found: "1 US dollars; feeds[0] too_old" },
  ]);
});

describe("requires two price sources, one of them live, on a public chain [T56]", () => {
  const API = {
    url: "https://prices.example",
    headers: new Map(),
    pointer: ["usd"],
    timestampPointer: undefined,
    scale: 0,
    maxAgeMs: 1,
  };
  test.each([
    [{ fixed: USD, feeds: [], http: [] }, "problem", "0 feeds, 0 HTTP APIs, static"],
    [{ fixed: undefined, feeds: [FEED], http: [] }, "problem", "1 feeds, 0 HTTP APIs"],
    [{ fixed: undefined, feeds: [], http: [API] }, "problem", "0 feeds, 1 HTTP APIs"],
    [{ fixed: undefined, feeds: [FEED], http: [API] }, "ok", "1 feeds, 1 HTTP APIs"],
    [{ fixed: undefined, feeds: [], http: [API, API] }, "ok", "0 feeds, 2 HTTP APIs"],
    [{ fixed: USD, feeds: [FEED], http: [] }, "ok", "1 feeds, 0 HTTP APIs, static"],
  ] as const)("%#: %s", async (sources, status, found) => {
    const given = { tokens: [{ ...usdc, price: { ...sources, maxDeviationBps: 1 } }] };
    const name = { item: "USDC of chain 2", found };
    expect(await examineOnly("price.independent", given)).toMatchObject([{ ...name, status }]);
    // The sandbox has only static prices.
    const local = await examineOnly("price.independent", { ...given, evmChainId: 900_002 });
    expect(local).toMatchObject([{ ...name, status: "ok" }]);
  });
});
