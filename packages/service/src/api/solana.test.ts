import * as wire from "@sluice/sdk/wire";
import { Value } from "typebox/value";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type RunningApi, startApi } from "../../test/support/api.ts";
import { createTestDatabase, type TestDatabase } from "../../test/support/database.ts";
import {
  createHex,
  createTenant,
  insertAddress,
  insertSettlement,
  type Tenant,
} from "../../test/support/tenants.ts";
import { parseSolanaAddress, parseSolanaTxHash, toBase58 } from "../core/base58.ts";
import { type Address, type Hex, NATIVE_SOL, toAddress } from "../core/hex.ts";
import { appendEvent } from "../events/index.ts";
import { systemRandom } from "../roles/system-ports.ts";
import type { IndexRequest } from "./request-index.ts";

const SOL = "11111111111111111111111111111111";
const WSOL = "So11111111111111111111111111111111111111112";
const USDC = "EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v";
const EVM_ADDRESS = `0x${"5".repeat(40)}`;
const VAULT = toAddress(createHex(32));
const BINDING = toAddress(createHex(32));
const PROOF: Hex = `0x${"1b".repeat(64)}`;
/** A transaction is identified by its 64-byte signature. */
const SIGNATURE = toBase58(`0x${"2c".repeat(64)}`);

function addressOf(text: string): Address {
  const address = parseSolanaAddress(text);
  if (!address) throw new Error(`not an address: ${text}`);
  return address;
}

let database: TestDatabase;
let api: RunningApi;
let alice: Tenant;
let vault: { readonly id: string; readonly wallet: string };
const asked: IndexRequest[] = [];

beforeAll(async () => {
  database = await createTestDatabase();
  const token = { decimals: 9, minDepositUnits: "0.05" };
  api = await startApi({
    db: database.db,
    async requestIndex(request) {
      asked.push(request);
      return { queued: false, reason: "below_min" };
    },
    scanned: [
      {
        chainId: 1,
        name: "solana",
        kind: "svm",
        tokens: [
          { ...token, symbol: "SOLANA", address: NATIVE_SOL },
          { ...token, symbol: "WSOL", address: addressOf(WSOL) },
        ],
      },
      { chainId: 2, name: "ethereum", kind: "evm", tokens: [] },
    ],
  });
  alice = await createTenant(database.db);
  vault = await insertAddress(database.db, alice, {
    chain_family: "svm",
    wallet: VAULT,
    factory: BINDING,
    refund_authority: createHex(32),
    proof: PROOF,
    dest_chain: 1,
    dest_wallet: createHex(32),
    dest_token: NATIVE_SOL,
  });
});
afterAll(async () => {
  await api.close();
  await database.drop();
});

async function call(path: string, init: RequestInit = {}) {
  const headers = { "x-api-key": alice.apiKey, "content-type": "application/json" };
  const response = await fetch(`${api.url}${path}`, { headers, ...init });
  // CAST: each test states the answer that it expects.
  return { status: response.status, body: (await response.json()) as Record<string, unknown> };
}

test("GET /source-config lists SOL and wrapped SOL as two tokens [T36]", async () => {
  const { body } = await call("/source-config");
  expect([...Value.Errors(wire.SourceConfig, body)]).toEqual([]);
  const token = { decimals: 9, minDeposit: "0.05" };
  expect(body).toEqual({
    chains: [
      {
        chainId: 1,
        name: "solana",
        kind: "svm",
        tokens: [
          { ...token, address: SOL, symbol: "SOLANA", standard: "native" },
          { ...token, address: WSOL, symbol: "WSOL", standard: "spl" },
        ],
      },
      { chainId: 2, name: "ethereum", kind: "evm", tokens: [] },
    ],
  });
});

test("GET /deposit-addresses shows a vault in base58, and its record shows the binding", async () => {
  const page = await call("/deposit-addresses");
  expect([...Value.Errors(wire.DepositAddressPage, page.body)]).toEqual([]);
  expect(page.body).toMatchObject({
    items: [
      {
        chainType: "svm",
        walletAddress: toBase58(VAULT),
        destChain: "1",
        destToken: SOL,
      },
    ],
  });
  const { body } = await call(`/deposit-addresses/${vault.id}`);
  expect([...Value.Errors(wire.DepositAddressWithCommitment, body)]).toEqual([]);
  expect(body).toMatchObject({
    payDepositCommitment: { factory: toBase58(BINDING), binding: PROOF, destToken: NATIVE_SOL },
  });
  expect(body["payDepositCommitment"]).not.toHaveProperty("implementation");
});

test("GET /swaps shows addresses and transactions in base58, and is filtered by them", async () => {
  const swapTxHash = parseSolanaTxHash(SIGNATURE);
  if (!swapTxHash) throw new Error("a signature was expected");
  await insertSettlement(database.db, alice, vault, {
    chainId: 1,
    token: addressOf(USDC),
    swapTxHash,
  });
  const { body } = await call(`/swaps?walletAddress=${toBase58(VAULT)}`);
  expect([...Value.Errors(wire.SwapPage, body)]).toEqual([]);
  expect(body).toMatchObject({
    items: [
      { chainId: 1, walletAddress: toBase58(VAULT), tokenAddress: USDC, swapTxHash: SIGNATURE },
    ],
  });
  expect((await call(`/swaps?walletAddress=${USDC}`)).body).toMatchObject({ items: [] });
});

test("GET /events is filtered by a vault in base58", async () => {
  const walletAddress = toBase58(VAULT);
  await database.db.transaction().execute((tx) =>
    appendEvent(tx, systemRandom, {
      integratorId: alice.id,
      type: "deposit_detected",
      data: { walletAddress, chainId: 1, tokenAddress: SOL, queued: true },
    }),
  );
  const { body } = await call(`/events?walletAddress=${walletAddress}`);
  expect(body).toMatchObject({ items: [{ data: { walletAddress } }] });
  expect((await call(`/events?walletAddress=${USDC}`)).body).toMatchObject({ items: [] });
});

test("GET /deposits accepts a transaction of Solana or of an EVM chain", async () => {
  for (const txHash of [SIGNATURE, `0x${"ab".repeat(32)}`]) {
    expect((await call(`/deposits?txHash=${txHash}`)).status).toBe(200);
  }
  for (const txHash of [USDC, `0x${"ab".repeat(64)}`, `${SIGNATURE}1`, "0"]) {
    expect(await call(`/deposits?txHash=${txHash}`)).toMatchObject({
      status: 400,
      body: { error: { code: "VALIDATION_ERROR", details: { field: "txHash" } } },
    });
  }
});

test.each(["1".repeat(31), `${SOL}1`, "0", "l".repeat(32), SIGNATURE])(
  "a filter refuses %s, which is not a wallet",
  async (text) => {
    expect(await call(`/swaps?walletAddress=${text}`)).toMatchObject({
      status: 400,
      body: { error: { details: { field: "walletAddress" } } },
    });
  },
);

describe("POST /request-index", () => {
  const post = (body: object) =>
    call("/request-index", { method: "POST", body: JSON.stringify(body) });

  test.each([
    [USDC, addressOf(USDC)],
    [WSOL, addressOf(WSOL)],
    [SOL, NATIVE_SOL],
    ["native", NATIVE_SOL],
    ["0x0000000000000000000000000000000000000000", NATIVE_SOL],
  ])("accepts the token %s of Solana, and echoes it as sent", async (tokenAddress, token) => {
    const walletAddress = toBase58(VAULT);
    const { status, body } = await post({ chain: 1, walletAddress, tokenAddress });
    expect(status).toBe(200);
    expect(body).toMatchObject({ chainId: 1, walletAddress, tokenAddress });
    expect(asked.at(-1)).toMatchObject({ chainId: 1, token, address: { wallet: VAULT } });
  });

  test.each([
    ["walletAddress", { walletAddress: EVM_ADDRESS, tokenAddress: SOL, chain: 1 }],
    ["walletAddress", { walletAddress: VAULT, tokenAddress: SOL, chain: 1 }],
    ["walletAddress", { walletAddress: toBase58(VAULT), tokenAddress: EVM_ADDRESS, chain: 2 }],
    ["tokenAddress", { walletAddress: toBase58(VAULT), tokenAddress: EVM_ADDRESS, chain: 1 }],
    ["tokenAddress", { walletAddress: EVM_ADDRESS, tokenAddress: USDC, chain: 2 }],
  ])("refuses a %s of another chain family: %j", async (field, body) => {
    const { status, body: answer } = await post(body);
    expect(status).toBe(400);
    expect(answer).toMatchObject({ error: { code: "VALIDATION_ERROR", details: { field } } });
  });

  test("names the expected form for an EVM address on Solana, and the reverse", async () => {
    const messageOf = async (body: object) => (await post(body)).body["error"];
    expect(
      await messageOf({ walletAddress: EVM_ADDRESS, tokenAddress: SOL, chain: 1 }),
    ).toMatchObject({
      message:
        "walletAddress: expected 32 bytes in base58, as on Solana, not an address of EVM chains.",
    });
    expect(
      await messageOf({ walletAddress: toBase58(VAULT), tokenAddress: SOL, chain: 2 }),
    ).toMatchObject({
      message:
        "walletAddress: expected 0x and 40 hex digits, as on EVM chains, not an address of Solana.",
    });
  });

  test("does not find an unknown vault, or an address of another chain family", async () => {
    expect(await post({ walletAddress: USDC, tokenAddress: SOL, chain: 1 })).toMatchObject({
      status: 404,
      body: { error: { code: "NOT_FOUND" } },
    });
  });
});
