import { expect, test } from "vitest";
import {
  CHAIN,
  createDoctorDeps,
  nodesFor,
  createStrictInspector,
  USDC,
} from "../../test/support/doctor-doubles.ts";
import type { ChainConfig, RouteConfig, TokenConfig } from "../config/load.ts";
import { OperatingError } from "../core/errors.ts";
import { NATIVE_TOKEN } from "../core/hex.ts";
import { checkPrices } from "./prices.ts";
import { runChecks } from "./run.ts";

const USD = 10n ** 18n;
const PRICE = { fixed: USD, feeds: [], bounds: { maxAgeMs: 1, maxDeviationBps: 1 } };
const usdc = findToken();
const coin = { ...usdc, symbol: "ETHEREUM", address: NATIVE_TOKEN, decimals: 18 };
const STAYS: RouteConfig = { kind: "MONO_CHAIN", chainId: 2, token: USDC, contract: USDC };

function findToken(): TokenConfig {
  const [token] = CHAIN.tokens;
  if (!token) throw new Error("the chain has a token");
  return token;
}

function examine(given: {
  readonly tokens?: ChainConfig["tokens"];
  readonly minDepositUsd?: bigint;
  readonly feePerGas?: bigint;
  readonly readUsd?: (token: { readonly token: string }) => Promise<bigint>;
}) {
  const chain = {
    ...CHAIN,
    evmChainId: 1,
    tokens: given.tokens ?? [
      { ...usdc, price: PRICE },
      { ...coin, price: PRICE },
    ],
    minDepositUsd: given.minDepositUsd,
  };
  const node = createStrictInspector({ suggestMaxFeePerGas: async () => given.feePerGas ?? 0n });
  const deps = createDoctorDeps({
    chain,
    config: { routes: [STAYS] },
    nodes: nodesFor(node),
    readUsd: given.readUsd ?? (async ({ token }) => (token === NATIVE_TOKEN ? 3_000n * USD : USD)),
  });
  return runChecks([checkPrices(deps, [])]);
}

test("the fee of the smallest deposit is weighed against its gas", async () => {
  // 10 basis points of one dollar; 210,000 gas at a thousandth of a gwei are 0.00063 dollars.
  expect(await examine({ feePerGas: 10n ** 6n })).toMatchObject([
    {
      id: "terms.cost",
      status: "ok",
      found: "about 0.00063 US dollars of gas, for a fee of 0.001",
    },
  ]);
  expect(await examine({ feePerGas: 10n ** 9n })).toMatchObject([
    {
      id: "terms.cost",
      status: "warning",
      found: "about 0.63 US dollars of gas, for a fee of 0.001",
    },
  ]);
});

test.each([
  ["the native coin of chain 2 has no price", [{ ...usdc, price: PRICE }]],
  ["USDC has no price", [usdc, { ...coin, price: PRICE }]],
  ["no minDeposit", [{ ...usdc, price: PRICE, minDeposit: undefined }]],
])("what cannot be weighed says why: %s", async (found, tokens) => {
  expect(await examine({ tokens })).toMatchObject([{ id: "terms.cost", status: "skipped", found }]);
});

test("a floor in dollars needs prices that can be read now", async () => {
  const results = await examine({
    minDepositUsd: USD,
    readUsd: async ({ token }) => {
      if (token === USDC) throw new OperatingError("PRICE_UNAVAILABLE", "There is no price.");
      return USD;
    },
  });
  expect(results).toMatchObject([
    { id: "price.source", item: "USDC of chain 2", status: "problem", found: "There is no price." },
    { id: "price.source", item: "ETHEREUM of chain 2", status: "ok", found: "1 US dollars" },
    { id: "terms.cost", status: "problem" },
  ]);
});
