import { implementationOf } from "@sluice/sdk/address";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createTestDatabase, type TestDatabase } from "../../test/support/database.ts";
import {
  createCountingRandom,
  createStillClock,
  createStrictChain,
} from "../../test/support/doubles.ts";
import { toEvmAddress } from "../core/hex.ts";
import { createRouteBook } from "../routes/index.ts";
import { addressFormat } from "./address-format.ts";
import type { RoleContext } from "./context.ts";
import { createQuoter } from "./quoter.ts";

const addressOf = (digit: string) => toEvmAddress(`0x${digit.repeat(40)}`);
const USDC = addressOf("5");
const CONTRACTS = { factory: addressOf("1"), escrow: addressOf("2"), delivery: addressOf("3") };
const ROUTE = addressOf("4");

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

test.each([
  ...Object.entries(CONTRACTS),
  ["implementation", implementationOf(CONTRACTS.factory)],
  ["route", ROUTE],
])("a quote never sends value to our own %s", async (_, destinationAddress) => {
  const token = { address: USDC, symbol: "USDC", decimals: 6, minDeposit: undefined };
  const context: Partial<RoleContext> = {
    db: database.db,
    clock: createStillClock(),
    random: createCountingRandom(),
    chains: new Map([[2, createStrictChain({})]]),
    routes: createRouteBook([]),
    format: addressFormat,
    // CAST: what a quoter reads of a configuration.
    config: {
      chains: [{ chainId: 2, evmChainId: 1, contracts: CONTRACTS, tokens: [token] }],
      routes: [{ kind: "MONO_CHAIN", chainId: 2, token: USDC, contract: ROUTE }],
      maxFeeBps: 50,
      maxSlippageBps: 100,
    } as unknown as RoleContext["config"],
  };
  // CAST: a quoter uses nothing else of it.
  const quote = createQuoter(context as RoleContext);
  const request = {
    amountIn64: "1",
    fromChain: "ethereum",
    fromToken: USDC,
    toChain: "ethereum",
    toToken: USDC,
    destinationAddress,
  };
  const principal = { integratorId: "", integratorName: "", keyId: "", depositAddresses: true };
  await expect(quote(request, principal)).rejects.toMatchObject({
    code: "VALIDATION_ERROR",
    details: { field: "destinationAddress" },
  });
});
