/** Full blocks, receipts, balances and traces that a node answers wrongly or lacks. */
import { listNativeTransfers } from "../../../test/support/read-block.ts";
import { toEventSelector } from "viem";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import {
  type EvmAddress,
  NATIVE_TOKEN,
  padAddress,
  toEvmAddress,
  toHex32,
} from "../../core/hex.ts";
import type { ChooseAccounts } from "../port/index.ts";
import type { ChainAtBlocks } from "../quorum.ts";
import { connectChain } from "../../../test/evm/connect-chain.ts";
import { type MalformedNode, startMalformedNode } from "../../../test/evm/malformed-node.ts";

const FROM = toEvmAddress(`0x${"01".repeat(20)}`);
const TO = toEvmAddress(`0x${"02".repeat(20)}`);
const OTHER = toEvmAddress(`0x${"03".repeat(20)}`);
const HASH = toHex32(`0x${"bb".repeat(32)}`);
const BLOCK = { number: 5n, hash: HASH, parentHash: toHex32(`0x${"ba".repeat(32)}`) };
const TX = `0x${"c1".repeat(32)}`;
const UNAVAILABLE = { code: "RPC_UNAVAILABLE" };

let node: MalformedNode;
let chain: ChainAtBlocks;

beforeAll(async () => {
  node = await startMalformedNode();
});
beforeEach(() => {
  chain = connectChain(node, FROM);
});
afterAll(async () => {
  await node.stop();
});

const chooseOurs: ChooseAccounts = async (payees) => new Set(payees.filter((one) => one === TO));

const payment = { hash: TX, from: FROM, to: TO, value: "0x7" };
const receipt = {
  transactionHash: TX,
  blockHash: HASH,
  blockNumber: "0x5",
  status: "0x1",
  gasUsed: "0x5208",
  effectiveGasPrice: "0x2",
  logs: [],
};

function answerBlock(answers: {
  readonly block?: object | null;
  readonly receipt?: object | null;
  readonly outflows?: readonly object[];
}) {
  const block = {
    number: "0x5",
    hash: HASH,
    parentHash: BLOCK.parentHash,
    timestamp: "0x1",
    transactions: [payment],
  };
  node.answer(({ method }) => {
    if (method === "eth_getBlockByNumber") {
      return { result: answers.block === null ? null : { ...block, ...answers.block } };
    }
    if (method === "eth_getLogs") return { result: answers.outflows ?? [] };
    return { result: answers.receipt === null ? null : { ...receipt, ...answers.receipt } };
  });
}

/** The escrow's return to a wallet of others. */
function outflowOf(txIndex: number, logIndex: number) {
  return {
    address: FROM,
    topics: [toEventSelector("Returned(bytes32,address,address,uint256)"), HASH, padAddress(OTHER)],
    data: `${padAddress(OTHER)}${"7".padStart(64, "0")}`,
    blockHash: HASH,
    blockNumber: "0x5",
    transactionHash: `0x${txIndex.toString(16).padStart(64, "0")}`,
    transactionIndex: `0x${txIndex.toString(16)}`,
    logIndex: `0x${logIndex.toString(16)}`,
  };
}

describe("native transfers", () => {
  test("are those of the block's transactions to the chosen accounts", async () => {
    const creation = { ...payment, hash: `0x${"c2".repeat(32)}`, to: null };
    const stranger = { ...payment, hash: `0x${"c3".repeat(32)}`, to: OTHER };
    const nothing = { ...payment, hash: `0x${"c4".repeat(32)}`, value: "0x0" };
    answerBlock({ block: { transactions: [creation, stranger, payment, nothing] } });
    expect(await listNativeTransfers(chain, BLOCK, chooseOurs)).toEqual([
      { token: NATIVE_TOKEN, from: FROM, to: TO, amount: 7n, txHash: TX, logIndex: 0, ordinal: 0 },
    ]);
    expect(node.asked).toEqual([
      { method: "eth_getBlockByNumber", params: ["0x5", true] },
      expect.objectContaining({ method: "eth_getLogs" }),
      { method: "eth_getTransactionReceipt", params: [TX] },
    ]);
  });

  test("come after the outflows of earlier transactions, and before those of later ones", async () => {
    const before = { ...payment, hash: `0x${"c2".repeat(32)}`, to: OTHER };
    answerBlock({
      block: { transactions: [before, payment] },
      outflows: [outflowOf(0, 4), outflowOf(2, 9)],
    });
    expect(await listNativeTransfers(chain, BLOCK, chooseOurs)).toMatchObject([{ logIndex: 5 }]);
  });

  test("are omitted when the transaction failed [T03]", async () => {
    answerBlock({ receipt: { status: "0x0" } });
    expect(await listNativeTransfers(chain, BLOCK, chooseOurs)).toEqual([]);
  });

  test.each([
    ["no block", { block: null }],
    ["another block", { block: { hash: BLOCK.parentHash } }],
    ["another height", { block: { number: "0x6" } }],
    ["hashes instead of transactions", { block: { transactions: [TX] } }],
    ["no receipt", { receipt: null }],
    ["a receipt of another block", { receipt: { blockHash: BLOCK.parentHash } }],
    ["a receipt of another transaction", { receipt: { transactionHash: HASH } }],
  ])("fail when the node answers with %s", async (_what, answers) => {
    answerBlock(answers);
    await expect(listNativeTransfers(chain, BLOCK, chooseOurs)).rejects.toMatchObject(UNAVAILABLE);
  });
});

describe("native balances", () => {
  const pack = (value: bigint) => value.toString(16).padStart(24, "0");
  const MANY = Array.from({ length: 4_500 }, (_, index) =>
    toEvmAddress(`0x${(index + 1).toString(16).padStart(40, "0")}`),
  );

  /** Returns the accounts of a request, which are behind 52 bytes of code. */
  function accountsOf([call]: readonly unknown[]): readonly EvmAddress[] {
    // CAST: the reader sends a call with creation code.
    const { data } = call as { readonly data: string };
    return [...data.slice(2 + 2 * 52).matchAll(/.{40}/g)].map(([one]) => toEvmAddress(`0x${one}`));
  }

  /** Answers with each account's own number as its balance, to at most `most` accounts. */
  function answerUpTo(most: number, message = "out of gas") {
    const sizes: number[] = [];
    node.answer(({ params }) => {
      const accounts = accountsOf(params);
      sizes.push(accounts.length);
      if (accounts.length > most) return { error: { code: -32000, message } };
      return { result: `0x${accounts.map((one) => pack(BigInt(one))).join("")}` };
    });
    return sizes;
  }

  test("are read by block hash", async () => {
    node.answer(() => ({ result: `0x${pack(7n)}${pack(0n)}` }));
    expect(await chain.balances.listNativeBalances(BLOCK, [TO, OTHER])).toEqual([7n, 0n]);
    expect(node.asked[0]?.params[1]).toEqual({ blockHash: HASH, requireCanonical: true });
  });

  test("of many accounts are read 2,000 at once, in order", async () => {
    const sizes = answerUpTo(2_000);
    expect(await chain.balances.listNativeBalances(BLOCK, MANY)).toEqual(MANY.map(BigInt));
    expect(sizes).toEqual([2_000, 2_000, 500]);
  });

  test("are read with fewer accounts after a refusal, also the next time", async () => {
    const sizes = answerUpTo(1_200);
    for (const _ of [1, 2]) {
      expect(await chain.balances.listNativeBalances(BLOCK, MANY)).toEqual(MANY.map(BigInt));
    }
    expect(sizes).toEqual([2_000, ...[1, 2].flatMap(() => [1_000, 1_000, 1_000, 1_000, 500])]);
  });

  test("fail when the node refuses 500 accounts", async () => {
    const sizes = answerUpTo(499);
    for (const _ of [1, 2]) {
      await expect(chain.balances.listNativeBalances(BLOCK, MANY)).rejects.toMatchObject(
        UNAVAILABLE,
      );
    }
    expect(sizes).toEqual([2_000, 1_000, 500, 500]);
  });

  test("fail at once when the node states that it lacks the block", async () => {
    const sizes = answerUpTo(0, "header not found");
    await expect(chain.balances.listNativeBalances(BLOCK, MANY)).rejects.toMatchObject(UNAVAILABLE);
    expect(sizes).toEqual([2_000]);
  });

  test("of more than 12 bytes are read alone", async () => {
    const huge = 2n ** 200n;
    node.answer(({ method }) => ({
      result:
        method === "eth_getBalance" ? `0x${huge.toString(16)}` : `0x${pack(7n)}${"f".repeat(24)}`,
    }));
    expect(await chain.balances.listNativeBalances(BLOCK, [TO, OTHER])).toEqual([7n, huge]);
    expect(node.asked[1]).toEqual({
      method: "eth_getBalance",
      params: [OTHER, { blockHash: HASH, requireCanonical: true }],
    });
  });

  test.each(["0x", `0x${"0".repeat(24)}`, `0x${"0".repeat(50)}`, `0x${"0".repeat(72)}`])(
    "refuse %s as the answer for two accounts",
    async (result) => {
      node.answer(() => ({ result }));
      await expect(chain.balances.listNativeBalances(BLOCK, [TO, OTHER])).rejects.toMatchObject(
        UNAVAILABLE,
      );
    },
  );
});

describe("token balances", () => {
  const HOLDINGS = [{ token: OTHER, wallet: TO }];

  test.each([
    "missing trie node 8b1604e0d19d9be9 (path ) state 0x11 is not available",
    "required historical state unavailable (reexec=128)",
    "historical state 0x1122 is not available",
    "state at block #12 is pruned",
    "old data not available due to pruning",
    "No state available for block 12",
    "World state unavailable",
  ])("are unknown when the node has pruned the block's state: %s", async (message) => {
    node.answer(() => ({ error: { code: -32000, message } }));
    expect(await chain.balances.listTokenBalances(HASH, HOLDINGS)).toBeNull();
  });

  test.each([
    { error: { code: -32000, message: "header not found" } },
    { error: { code: -32000, message: "hash 0xbb is not currently canonical" } },
    { error: { code: 3, message: "execution reverted" } },
    { result: "0x" },
    { result: `0x${"0".repeat(64)}` },
    { result: `0x${"0".repeat(192)}` },
  ])("fail when the node answers with %j", async (reply) => {
    node.answer(() => reply);
    await expect(chain.balances.listTokenBalances(HASH, HOLDINGS)).rejects.toMatchObject(
      UNAVAILABLE,
    );
  });
});

describe("traces", () => {
  test("give the recipients of all frames that were not reverted, at any depth [T04]", async () => {
    const paid = { to: TO, value: "0x1", type: "CALL" };
    const undone = { to: OTHER, value: "0x0", error: "execution reverted", calls: [paid] };
    const deep = Array.from({ length: 1000 }).reduce<object>(
      (calls) => ({ to: OTHER, value: "0x0", calls: [calls] }),
      { to: FROM, value: "0x1", type: "SELFDESTRUCT" },
    );
    node.answer(() => ({ result: [{ result: undone }, { result: deep }] }));
    expect(await chain.balances.listTracedPayees(BLOCK)).toEqual([FROM]);
  });

  test("are not requested again from a node without tracing", async () => {
    node.answer(() => ({ error: { code: -32601, message: "the method does not exist" } }));
    expect(await chain.balances.listTracedPayees(BLOCK)).toBeNull();
    expect(await chain.balances.listTracedPayees(BLOCK)).toBeNull();
    expect(node.asked.length).toBe(1);
  });

  test("are requested again after a node did not know its first block", async () => {
    node.answer(() => ({ error: { code: -32000, message: "header not found" } }));
    expect(await chain.balances.listTracedPayees(BLOCK)).toBeNull();
    node.answer(() => ({ result: [{ result: { to: TO, value: "0x1" } }] }));
    expect(await chain.balances.listTracedPayees(BLOCK)).toEqual([TO]);
  });

  test("are requested again after a failure of one block", async () => {
    node.answer(() => ({ result: [] }));
    expect(await chain.balances.listTracedPayees(BLOCK)).toEqual([]);
    node.answer(() => ({ error: { code: -32000, message: "execution timeout" } }));
    expect(await chain.balances.listTracedPayees(BLOCK)).toBeNull();
    node.answer(() => ({ result: [{ result: { to: TO, value: "0x1" } }] }));
    expect(await chain.balances.listTracedPayees(BLOCK)).toEqual([TO]);
  });

  test("fail when the node answers in another shape", async () => {
    node.answer(() => ({ result: [{ result: { calls: [7] } }] }));
    await expect(chain.balances.listTracedPayees(BLOCK)).rejects.toMatchObject(UNAVAILABLE);
  });
});
