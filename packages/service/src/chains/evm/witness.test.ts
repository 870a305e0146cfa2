/** Receipts of a witness, from a node that can state anything. */
import { toEventSelector } from "viem";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { type MalformedNode, startMalformedNode } from "../../../test/evm/malformed-node.ts";
import { NATIVE_TOKEN, padAddress, toEvmAddress, toHex32, toTxHash } from "../../core/hex.ts";
import type { Transfer } from "../port/index.ts";
import type { WitnessReader } from "../witnessed.ts";
import { createRpc } from "./rpc.ts";
import { createWitnessReader } from "./witness.ts";

const TOKEN = toEvmAddress(`0x${"70".repeat(20)}`);
const OTHER = toEvmAddress(`0x${"71".repeat(20)}`);
const PAYER = toEvmAddress(`0x${"01".repeat(20)}`);
const OURS = toEvmAddress(`0x${"02".repeat(20)}`);
const TRANSFER = toEventSelector("Transfer(address,address,uint256)");
const HASH = toHex32(`0x${"b1".repeat(32)}`);
const TX = toTxHash(`0x${"7a".repeat(32)}`);
const BLOCK = { number: 12n, hash: HASH };

let node: MalformedNode;
let witness: WitnessReader;
beforeAll(async () => {
  node = await startMalformedNode();
});
afterAll(async () => {
  await node.stop();
});
beforeEach(() => {
  witness = createWitnessReader(createRpc({ chainId: 2, rpcUrl: node.rpcUrl, timeoutMs: 2_000 }));
});

const word = (value: bigint) => `0x${value.toString(16).padStart(64, "0")}`;
const logOf = (
  logIndex: number,
  { token = TOKEN, to = OURS, amount = 7n, topic = TRANSFER } = {},
) => ({
  address: token,
  topics: [topic, padAddress(PAYER), padAddress(to)],
  data: word(amount),
  logIndex: `0x${logIndex.toString(16)}`,
});
const RECEIPT = {
  transactionHash: TX,
  blockHash: HASH,
  status: "0x1",
  // The second transfer of the token, although another token's log lies in between.
  logs: [logOf(5), logOf(3, { to: PAYER }), logOf(4, { token: OTHER })],
};
const PAYMENT = { hash: TX, blockHash: HASH, from: PAYER, to: OURS, value: "0x9" };
const TOKENS: Transfer = {
  token: TOKEN,
  from: PAYER,
  to: OURS,
  amount: 7n,
  txHash: TX,
  logIndex: 5,
  ordinal: 1,
};
const COIN: Transfer = { ...TOKENS, token: NATIVE_TOKEN, amount: 9n, logIndex: 0, ordinal: 0 };

function answer({ receipt = RECEIPT as unknown, payment = PAYMENT as unknown } = {}): void {
  node.answer(({ method }) => ({
    result: method === "eth_getTransactionReceipt" ? receipt : payment,
  }));
}

describe("a receipt", () => {
  test("confirms the very transfers that it shows, tokens and coin, in one request each", async () => {
    answer();
    expect(await witness.listConfirmed(BLOCK, [TOKENS])).toEqual([TOKENS]);
    expect(node.asked.map(({ method }) => method)).toEqual(["eth_getTransactionReceipt"]);
    expect(await witness.listConfirmed(BLOCK, [TOKENS, COIN])).toEqual([TOKENS, COIN]);
    expect(node.asked).toHaveLength(3);
  });

  test.each<[string, object]>([
    ["amount", { amount: 8n }],
    ["recipient", { to: PAYER }],
    ["sender", { from: OURS }],
    ["token", { token: OTHER }],
    ["position", { logIndex: 4 }],
    ["ordinal", { ordinal: 0 }],
  ])("does not confirm a transfer with another %s [T48]", async (_field, change) => {
    answer();
    expect(await witness.listConfirmed(BLOCK, [{ ...TOKENS, ...change }])).toEqual([]);
  });

  test("of a failed transaction confirms nothing [T48]", async () => {
    answer({ receipt: { ...RECEIPT, status: "0x0" } });
    expect(await witness.listConfirmed(BLOCK, [TOKENS, COIN])).toEqual([]);
  });

  test("does not confirm another event of the same form [T48]", async () => {
    answer({ receipt: { ...RECEIPT, logs: [logOf(5, { topic: toEventSelector("X()") })] } });
    expect(await witness.listConfirmed(BLOCK, [{ ...TOKENS, ordinal: 0 }])).toEqual([]);
  });

  test.each<[string, object]>([
    ["value", { value: "0xa" }],
    ["recipient", { to: PAYER }],
    ["sender", { from: OURS }],
  ])(
    "does not confirm a payment whose transaction has another %s [T48]",
    async (_field, change) => {
      answer({ payment: { ...PAYMENT, ...change } });
      expect(await witness.listConfirmed(BLOCK, [COIN])).toEqual([]);
    },
  );

  test.each<[string, { receipt?: unknown; payment?: unknown }, string]>([
    ["is missing", { receipt: null }, "transaction not found"],
    [
      "is of another block",
      { receipt: { ...RECEIPT, blockHash: toHex32(`0x${"b2".repeat(32)}`) } },
      "a transaction of another block",
    ],
    ["has no logs", { receipt: { ...RECEIPT, logs: undefined } }, "malformed answer"],
    [
      "has a transaction that is not mined",
      { payment: { ...PAYMENT, blockHash: null } },
      "a transaction of another block",
    ],
  ])("is no answer when it %s [T47]", async (_what, answers, reason) => {
    answer(answers);
    await expect(witness.listConfirmed(BLOCK, [COIN])).rejects.toMatchObject({
      code: "RPC_UNAVAILABLE",
      details: { reason },
    });
  });
});

test("blocks are listed in order, null for those that the node lacks", async () => {
  node.answer(({ params: [height] }) => ({
    result:
      Number(height) > 12
        ? null
        : { number: height, hash: HASH, parentHash: word(1n), timestamp: "0x1" },
  }));
  expect(await witness.listBlocks([12n, 13n])).toEqual([
    { number: 12n, hash: HASH, parentHash: word(1n) },
    null,
  ]);
});
