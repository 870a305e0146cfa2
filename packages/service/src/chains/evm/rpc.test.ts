/** Every answer of a node gives a well-formed value or RPC_UNAVAILABLE, and never reveals the node's URL. */
import { listTransfers } from "../../../test/support/read-block.ts";
import type { ServerResponse } from "node:http";
import { inspect } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { OperatingError } from "../../core/errors.ts";
import { toEvmAddress, toHex32, toTxHash } from "../../core/hex.ts";
import type { ChainAtBlocks } from "../quorum.ts";
import { createEvmChain } from "./evm-chain.ts";
import {
  type MalformedNode,
  type Reply,
  SECRET_OF_URL,
  startMalformedNode,
} from "../../../test/evm/malformed-node.ts";
import { unknownLock } from "../../../test/evm/world.ts";

const CHAIN_ID = 2;
const ADDRESS = toEvmAddress(`0x${"aa".repeat(20)}`);
const HASH = toHex32(`0x${"bb".repeat(32)}`);
const CONTRACTS = {
  factory: toEvmAddress(`0x${"f0".repeat(20)}`),
  escrow: toEvmAddress(`0x${"e0".repeat(20)}`),
  delivery: toEvmAddress(`0x${"d0".repeat(20)}`),
};
const PAID = { deliveryId: HASH, srcChain: 2, escrow: ADDRESS, seq: 0n };
const CALL = { to: ADDRESS, data: "0x", value: 0n } as const;

let node: MalformedNode;
let chain: ChainAtBlocks;

beforeAll(async () => {
  node = await startMalformedNode();
  chain = chainOver(node.rpcUrl);
});
afterAll(async () => {
  await node.stop();
});

function chainOver(rpcUrl: string, timeoutMs = 2000): ChainAtBlocks {
  return createEvmChain({
    chainId: CHAIN_ID,
    evmChainId: 1,
    rpcUrl,
    contracts: CONTRACTS,
    timeoutMs,
  });
}

const READS: readonly (readonly [string, (chain: ChainAtBlocks) => Promise<unknown>])[] = [
  ["checkIdentity", (c) => c.checkIdentity()],
  ["getHead", (c) => c.getHead()],
  ["getFinalNumber", (c) => c.getFinalNumber()],
  ["getBlock", (c) => c.getBlock(5n)],
  [
    "listTransfers",
    (c) => listTransfers(c, { number: 5n, hash: HASH, parentHash: HASH }, [ADDRESS]),
  ],
  ["getBalance", (c) => c.getBalance(ADDRESS, ADDRESS)],
  [
    "listTokenBalances",
    (c) => c.balances.listTokenBalances(HASH, [{ token: ADDRESS, wallet: ADDRESS }]),
  ],
  ["hasCode", (c) => c.wallets.hasCode(ADDRESS)],
  ["getTransactionCount", (c) => c.sequencing.getTransactionCount(ADDRESS)],
  ["suggestFees", (c) => c.suggestFees()],
  ["simulate", (c) => c.simulate(ADDRESS, CALL)],
  ["getReceipt", (c) => c.getReceipt(toTxHash(HASH))],
  ["getLock", (c) => c.getLock(unknownLock(), "latest")],
  ["isDelivered", (c) => c.isDelivered(PAID, "latest")],
  ["findDelivery", (c) => c.findDelivery(PAID)],
];

/** Answers that no read accepts. */
const MALFORMED: readonly (readonly [string, Reply])[] = [
  ["no result", { result: undefined }],
  ["a number", { result: 7 }],
  ["a list of null", { result: [null] }],
  ["an empty object", { result: {} }],
  ["text", { result: "hello" }],
  ["half a byte", { result: "0x123456789abcdef01234567" + "8".repeat(60) }],
  ["a negative number", { result: "-0x1" }],
  ["an error that is text", { error: "bad" }],
  ["an error without a code", { error: { message: "bad" } }],
  ["text that is not JSON", (response) => response.end("<html>")],
  ["JSON null", (response) => response.end("null")],
  ["JSON list", (response) => response.end("[]")],
  ["an empty body", (response) => response.end()],
];

describe.each(READS)("%s", (_name, read) => {
  test.each(MALFORMED)("rejects %s [T55]", async (_what, reply) => {
    node.answer(() => reply);
    await expect(read(chain)).rejects.toMatchObject({
      code: "RPC_UNAVAILABLE",
      details: { chainId: CHAIN_ID, reason: "malformed answer" },
    });
  });

  test.each([
    ["502", "http 502"],
    ["429", "rate limited"],
  ])("rejects HTTP status %s", async (status, reason) => {
    node.answer(() => (response) => {
      response.statusCode = Number(status);
      response.end("busy");
    });
    await expect(read(chain)).rejects.toMatchObject({
      code: "RPC_UNAVAILABLE",
      details: { reason },
    });
  });

  test("rejects an error of the node", async () => {
    node.answer(() => ({ error: { code: -32005, message: `limit of ${SECRET_OF_URL}` } }));
    const error: unknown = await read(chain).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: "RPC_UNAVAILABLE" });
    expectNoSecret(error);
  });
});

describe("a node that does not answer", () => {
  test("times out, also in the middle of the body", async () => {
    for (const start of ["", '{"jsonrpc":"2.0",']) {
      node.answer(() => (response) => {
        response.setHeader("content-type", "application/json");
        response.write(start);
      });
      await expect(chainOver(node.rpcUrl, 150).getHead()).rejects.toMatchObject({
        code: "RPC_UNAVAILABLE",
        details: { reason: "timeout" },
      });
    }
  });

  test("is reported as unreachable with the system's error code", async () => {
    const closed = await startMalformedNode();
    await closed.stop();
    const error: unknown = await chainOver(closed.rpcUrl)
      .getHead()
      .catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ details: { reason: "unreachable (ECONNREFUSED)" } });
    expectNoSecret(error);
  });

  test("is called once, without a retry", async () => {
    node.answer(() => (response) => response.destroy());
    await expect(chain.getHead()).rejects.toThrow(OperatingError);
    expect(node.asked).toHaveLength(1);
  });
});

test.each([
  [
    "a status",
    (response: ServerResponse) => {
      response.statusCode = 500;
      response.end(`no such key ${SECRET_OF_URL}`);
    },
  ],
  ["a broken connection", (response: ServerResponse) => response.destroy()],
])("keeps the URL's secret out of errors after %s", async (_what, reply) => {
  node.answer(() => reply);
  const error: unknown = await chain.getHead().catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(OperatingError);
  expectNoSecret(error);
});

test("reads an answer of several megabytes", async () => {
  node.answer(() => ({ result: `0x${"ab".repeat(5_000_000)}` }));
  expect(await chain.wallets.hasCode(ADDRESS)).toBe(true);
});

/** Checks the message, the stack, the details and every cause. */
function expectNoSecret(error: unknown): void {
  expect(inspect(error, { depth: 20, showHidden: true })).not.toContain(SECRET_OF_URL);
}
