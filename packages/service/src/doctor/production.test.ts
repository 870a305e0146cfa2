/** Checks of the terms and prices of the example production configuration. */
import { join } from "node:path";
import { expect, test } from "vitest";
import {
  createDoctorDeps,
  createStrictInspector,
  nodesFor,
} from "../../test/support/doctor-doubles.ts";
import { loadConfig } from "../roles/config.ts";
import { NATIVE_TOKEN } from "../core/hex.ts";
import { checkConfiguration } from "./configuration.ts";
import { checkPrices } from "./prices.ts";
import { runChecks } from "./run.ts";

const EXAMPLE = join(import.meta.dirname, "../../../../docs/examples/production.json");
const USD = 10n ** 18n;

const config = loadConfig({
  path: EXAMPLE,
  env: { SLUICE_DATABASE_URL: "postgres://sluice@db.example/sluice" },
  roles: ["auditor"],
});
const gasPrice = 10n ** 6n;
const deps = createDoctorDeps({
  config,
  listIntegrators: async () => [],
  nodes: nodesFor(
    createStrictInspector({
      suggestFees: async () => ({ gasPriceMax: gasPrice, tipMax: gasPrice }),
      readSurcharge: async () => 0n,
    }),
  ),
  prices: {
    readUsd: async ({ token }) => (token === NATIVE_TOKEN ? 3_000n * USD : USD),
    readReport: async () => ({ result: { kind: "price", usd: USD }, sources: [] }),
  },
});

test("has independent sources for every price, without static prices", async () => {
  const results = await runChecks([checkPrices(deps, new Map())]);
  const independent = results.filter(({ id }) => id === "price.independent");
  expect(independent.map(({ item, status, found }) => `${item}: ${status}, ${found}`)).toEqual(
    config.chains.flatMap(({ chainId, tokens }) =>
      tokens.map(({ symbol }) => `${symbol} of chain ${chainId}: ok, 1 feeds, 2 HTTP APIs`),
    ),
  );
  expect(results.filter(({ status }) => status === "problem")).toEqual([]);
});

test("leaves a payout and a fee from every minimum", async () => {
  const results = await runChecks([checkConfiguration(deps)]);
  const minimums = results.filter(({ id }) => id === "terms.minimum");
  expect(minimums).toHaveLength(config.routes.length);
  expect(results.filter(({ id }) => id !== "keys.distinct").map(({ status }) => status)).toEqual(
    Array(results.length - 1).fill("ok"),
  );
});
