import { implementationOf } from "@sluice/sdk/address";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createTestDatabase, type TestDatabase } from "../../test/support/database.ts";
import {
  createCountingRandom,
  createStillClock,
  createStrictChain,
} from "../../test/support/doubles.ts";
import { NATIVE_SOL, toAddress, toEvmAddress } from "../core/hex.ts";
import { createRouteBook } from "../routes/index.ts";
import { parseSolanaAddress, toBase58 } from "../core/base58.ts";
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

test("refuses a quote to any of our accounts on Solana", async () => {
  const [binding, escrow, delivery, treasury, lane] = [
    "0xd75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a",
    "0x3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c",
    "0xfc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025",
    `0x58${"66".repeat(31)}`,
    // The public key of the secret of 32 bytes 07.
    parseSolanaAddress("GmaDrppBC7P5ARKV8g3djiwP89vz1jLK23V2GBjuAEGB") ?? "",
  ].map(toAddress);
  const context: Partial<RoleContext> = {
    db: database.db,
    clock: createStillClock(),
    random: createCountingRandom(),
    chains: new Map([[1, createStrictChain({})]]),
    routes: createRouteBook([]),
    format: addressFormat,
    // CAST: the settings that a quoter reads.
    config: {
      chains: [
        {
          chainId: 1,
          kind: "svm",
          accounts: { binding, escrow, delivery, treasury, settle: lane },
          tokens: [{ address: NATIVE_SOL, symbol: "SOLANA", decimals: 9, minDeposit: undefined }],
        },
      ],
      routes: [],
      maxFeeBps: 50,
      maxSlippageBps: 100,
    } as unknown as RoleContext["config"],
    findVault: () => Promise.reject(new Error("no vault is to be derived")),
  };
  // CAST: a quoter uses no other part.
  const { quote } = createQuoter(context as RoleContext);
  const principal = { integratorId: "", integratorName: "", keyId: "", depositAddresses: true };
  for (const account of [binding, escrow, delivery, treasury, lane]) {
    const request = {
      amountIn64: "1",
      fromChain: "solana",
      fromToken: "native",
      toChain: "solana",
      toToken: "native",
      destinationAddress: toBase58(account ?? NATIVE_SOL),
    };
    await expect(quote(request, principal)).rejects.toMatchObject({
      message: "destinationAddress: expected a wallet, not one of our accounts.",
    });
  }
});

test.each([
  ...Object.entries(CONTRACTS),
  ["implementation", implementationOf(CONTRACTS.factory)],
  ["route", ROUTE],
])("refuses a quote to our own %s", async (_, destinationAddress) => {
  const token = { address: USDC, symbol: "USDC", decimals: 6, minDeposit: undefined };
  const context: Partial<RoleContext> = {
    db: database.db,
    clock: createStillClock(),
    random: createCountingRandom(),
    chains: new Map([[2, createStrictChain({})]]),
    routes: createRouteBook([]),
    format: addressFormat,
    // CAST: the settings that a quoter reads.
    config: {
      chains: [{ chainId: 2, kind: "evm", evmChainId: 1, contracts: CONTRACTS, tokens: [token] }],
      routes: [{ kind: "MONO_CHAIN", chainId: 2, token: USDC, contract: ROUTE }],
      maxFeeBps: 50,
      maxSlippageBps: 100,
    } as unknown as RoleContext["config"],
  };
  // CAST: a quoter uses no other part.
  const { quote } = createQuoter(context as RoleContext);
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
