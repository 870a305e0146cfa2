/** Node answers to the sender that a local node cannot produce. */
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from "vitest";
import { encodeErrorResult, keccak256, toEventSelector } from "viem";
import { errorsAbi } from "@sluice/contracts/abi";
import { toEvmAddress, toHex32, toTxHash } from "../../core/hex.ts";
import type { Chain, GasHint } from "../port/index.ts";
import { GAS_PRICE_ORACLE } from "./surcharge.ts";
import { connectChain } from "../../../test/evm/connect-chain.ts";
import {
  type MalformedNode,
  type Reply,
  startMalformedNode,
} from "../../../test/evm/malformed-node.ts";

const ADDRESS = toEvmAddress(`0x${"aa".repeat(20)}`);
const FACTORY = toEvmAddress(`0x${"f0".repeat(20)}`);
const HASH = toHex32(`0x${"bb".repeat(32)}`);
const RAW = "0x02f8aa";
const CALL = { to: ADDRESS, data: "0x", value: 0n } as const;
const BLOCK = {
  number: "0x5",
  hash: HASH,
  parentHash: HASH,
  timestamp: "0x0",
  baseFeePerGas: "0x64",
};

const SETTLED = toEventSelector("Settled(address,address,address,uint256)");
const IS_PAUSED = encodeErrorResult({ abi: errorsAbi, errorName: "IsPaused" });
const TOKEN_TEXT = encodeErrorResult({
  abi: [{ type: "error", name: "Error", inputs: [{ name: "text", type: "string" }] }],
  args: ["anything at all"],
});

let node: MalformedNode;
let chain: Chain;

beforeAll(async () => {
  node = await startMalformedNode();
  chain = connectChain(node, ADDRESS, {
    contracts: { factory: FACTORY, escrow: ADDRESS, delivery: ADDRESS },
    timeoutMs: 200,
  });
});
afterAll(async () => {
  await node.stop();
});

/** Answers each method from the table, and others with a malformed result. */
function answerBy(table: Readonly<Record<string, Reply>>): void {
  node.answer(({ method }) => table[method] ?? { result: undefined });
}

describe("a sent transaction [T64]", () => {
  test("is accepted when the node answers with its hash", async () => {
    answerBy({ eth_sendRawTransaction: { result: keccak256(RAW) } });
    expect(await chain.send(RAW)).toBe("accepted");
  });

  test.each<[string, Reply]>([
    ["another hash", { result: HASH }],
    ["no hash", { result: "ok" }],
    ["null", { result: null }],
    ["nothing", { result: undefined }],
    ["a body that is not JSON", (response) => response.end("<html>")],
    ["a broken connection", (response) => response.destroy()],
    ["a timeout", () => {}],
    ["an error of its own", { error: { code: -32603, message: "internal error" } }],
    ["502", (response) => response.writeHead(502).end("nonce too low")],
  ])("is of unknown outcome when the node answers with %s", async (_what, reply) => {
    answerBy({ eth_sendRawTransaction: reply });
    expect(await chain.send(RAW)).toBe("unknown");
    expect(node.asked).toHaveLength(1);
  });

  test("is classified by the node's message, not by its code", async () => {
    for (const code of [-32000, -32003, -32010, 3]) {
      answerBy({ eth_sendRawTransaction: { error: { code, message: "nonce too low" } } });
      expect(await chain.send(RAW)).toBe("nonce_too_low");
    }
  });
});

describe("fees", () => {
  test("are twice the base fee plus the tip", async () => {
    answerBy({
      eth_getBlockByNumber: { result: BLOCK },
      eth_maxPriorityFeePerGas: { result: "0x7" },
    });
    expect(await chain.suggestFees()).toEqual({ gasPriceMax: 207n, tipMax: 7n });
  });

  test.each([
    [-32601, "the method eth_maxPriorityFeePerGas does not exist/is not available"],
    [-32004, "Method not supported"],
    [-32000, "Method not found"],
  ])("tip 1 gwei where the node says %d %s", async (code, message) => {
    answerBy({
      eth_getBlockByNumber: { result: BLOCK },
      eth_maxPriorityFeePerGas: { error: { code, message } },
    });
    expect((await chain.suggestFees()).tipMax).toBe(1_000_000_000n);
  });

  test("are not estimated when the node fails", async () => {
    answerBy({
      eth_getBlockByNumber: { result: BLOCK },
      eth_maxPriorityFeePerGas: { error: { code: -32603, message: "internal error" } },
    });
    await expect(chain.suggestFees()).rejects.toMatchObject({ code: "RPC_UNAVAILABLE" });
  });

  test("are an error on a chain without a base fee", async () => {
    const { baseFeePerGas: _, ...block } = BLOCK;
    answerBy({
      eth_getBlockByNumber: { result: block },
      eth_maxPriorityFeePerGas: { result: "0x7" },
    });
    await expect(chain.suggestFees()).rejects.toMatchObject({ details: { reason: "no base fee" } });
  });
});

describe("simulation", () => {
  test.each<[string, unknown, string]>([
    ["geth's message without data", { code: -32000, message: "execution reverted" }, "reverted"],
    ["code 3 with foreign data", { code: 3, message: "oops", data: "0xdeadbeef" }, "reverted"],
    ["text of a token", { code: 3, message: "x", data: TOKEN_TEXT }, "reverted"],
    [
      "data behind a word",
      { code: -32015, message: "VM", data: "Reverted 0x1a21feed" },
      "reverted",
    ],
    [
      "data nested one level deeper",
      { code: -32603, message: "x", data: { data: "0x" } },
      "reverted",
    ],
    ["our error", { code: 3, message: "x", data: IS_PAUSED }, "IsPaused"],
    ["our error, nested", { code: -32603, message: "x", data: { data: IS_PAUSED } }, "IsPaused"],
    ["no gas left", { code: -32000, message: "out of gas" }, "reverted"],
  ])("reads a revert from %s", async (_what, error, reason) => {
    // Whether the estimate says so too, or only that it failed.
    for (const estimate of [error, { code: -32000, message: "gas required exceeds allowance" }]) {
      answerBy({ eth_estimateGas: { error: estimate }, eth_call: { error } });
      expect(await chain.simulate(ADDRESS, CALL)).toEqual({ ok: false, reason });
    }
  });

  test("reads a revert of the gas estimate when the state changed in between", async () => {
    answerBy({
      eth_call: { result: "0x" },
      eth_estimateGas: { error: { code: 3, message: "execution reverted", data: IS_PAUSED } },
    });
    expect(await chain.simulate(ADDRESS, CALL)).toEqual({ ok: false, reason: "IsPaused" });
  });

  test("throws on other errors", async () => {
    const error = { code: -32000, message: "header not found" };
    answerBy({ eth_estimateGas: { error }, eth_call: { error } });
    await expect(chain.simulate(ADDRESS, CALL)).rejects.toMatchObject({ code: "RPC_UNAVAILABLE" });
  });

  test("compares the sender's balance with the cost that the node will demand [T66]", async () => {
    const answers = {
      eth_call: { result: "0x" },
      eth_estimateGas: { result: "0x30d40" },
      eth_getBlockByNumber: { result: BLOCK },
      eth_maxPriorityFeePerGas: { result: "0x0" },
    };
    // 250,000 gas at 200 wei.
    answerBy({ ...answers, eth_getBalance: { result: "0x2faf080" } });
    expect(await chain.simulate(ADDRESS, CALL)).toEqual({ ok: true, gas: 250_000n });
    answerBy({ ...answers, eth_getBalance: { result: "0x2faf07f" } });
    await expect(chain.simulate(ADDRESS, CALL)).rejects.toMatchObject({
      code: "INSUFFICIENT_BALANCE",
      details: { reason: "gas" },
    });
  });

  test("needs a balance for the fees of the OP stack besides gas [T200]", async () => {
    const base = connectChain(node, ADDRESS, { chainId: 30, timeoutMs: 200 });
    const answer = (balance: string) =>
      node.answer(({ method, params: [call] }) => {
        // CAST: the parameter of an eth_call.
        const { to, data } = (call ?? {}) as { to?: string; data?: string };
        if (method === "eth_call" && to === GAS_PRICE_ORACLE) {
          // 200 bytes besides the data, and 250,000 gas.
          const isOperator = BigInt(`0x${data?.slice(10)}`) === 250_000n;
          return { result: `0x${(isOperator ? 30n : 1_000n).toString(16).padStart(64, "0")}` };
        }
        const table: Readonly<Record<string, Reply>> = {
          eth_call: { result: "0x" },
          eth_estimateGas: { result: "0x30d40" },
          eth_getBlockByNumber: { result: BLOCK },
          eth_maxPriorityFeePerGas: { result: "0x0" },
          eth_getBalance: { result: balance },
        };
        return table[method] ?? { result: undefined };
      });
    answer(`0x${(250_000n * 200n + 1_030n).toString(16)}`);
    expect(await base.simulate(ADDRESS, CALL)).toEqual({ ok: true, gas: 250_000n });
    answer(`0x${(250_000n * 200n + 1_029n).toString(16)}`);
    await expect(base.simulate(ADDRESS, CALL)).rejects.toMatchObject({
      code: "INSUFFICIENT_BALANCE",
      details: { reason: "gas" },
    });
  });

  test("estimates a call once a minute, if those like it succeed within the limit [T322]", async () => {
    const methods: string[] = [];
    /** Gas that the calls need. */
    let needed = 200_000n;
    node.answer(({ method, params: [call] }) => {
      methods.push(method);
      // CAST: the parameter of an eth_call.
      const { gas = "0x0" } = (call ?? {}) as { readonly gas?: string };
      const table: Readonly<Record<string, Reply>> = {
        eth_call:
          BigInt(gas) < needed
            ? { error: { code: -32000, message: "out of gas" } }
            : { result: "0x" },
        eth_estimateGas: { result: `0x${needed.toString(16)}` },
        eth_getBlockByNumber: { result: BLOCK },
        eth_maxPriorityFeePerGas: { result: "0x0" },
        eth_getBalance: { result: "0xffffffffffff" },
      };
      return table[method] ?? { result: undefined };
    });
    const now = vi.spyOn(performance, "now");
    onTestFinished(() => now.mockRestore());
    const startMs = performance.now();
    const like = connectChain(node, ADDRESS, { chainId: 2 });
    const simulate = async (hint?: GasHint) => {
      methods.length = 0;
      const simulation = await like.simulate(ADDRESS, CALL, hint);
      return { simulation, estimates: methods.includes("eth_estimateGas") };
    };
    const estimated = (gas: bigint) => ({ simulation: { ok: true, gas }, estimates: true });
    const known = (gas: bigint) => ({ simulation: { ok: true, gas }, estimates: false });
    expect(await simulate({ like: "claim" })).toEqual(estimated(250_000n));
    needed = 214_000n;
    expect(await simulate({ like: "claim" })).toEqual(known(250_000n));
    expect(await simulate({ like: "payout" })).toEqual(estimated(267_500n));
    // It takes more than the slack: another estimate.
    needed = 216_000n;
    expect(await simulate({ like: "claim" })).toEqual(estimated(270_000n));
    now.mockReturnValue(startMs + 61_000);
    expect(await simulate({ like: "claim" })).toEqual(estimated(270_000n));
    expect(await simulate()).toEqual(estimated(270_000n));
    // A limit that is given is used as it is.
    expect(await simulate({ gas: 216_000n })).toEqual(known(216_000n));
    expect(await simulate({ gas: 215_999n })).toEqual(estimated(270_000n));
  });

  test("adds at least 30,000 to a small estimate", async () => {
    answerBy({
      eth_call: { result: "0x" },
      eth_estimateGas: { result: "0x5208" },
      eth_getBlockByNumber: { result: BLOCK },
      eth_maxPriorityFeePerGas: { result: "0x0" },
      eth_getBalance: { result: "0xffffffffff" },
    });
    expect(await chain.simulate(ADDRESS, CALL)).toEqual({ ok: true, gas: 51_000n });
  });
});

describe("receipts", () => {
  const receipt = {
    transactionHash: HASH,
    blockHash: HASH,
    blockNumber: "0x5",
    status: "0x1",
    gasUsed: "0x5208",
    effectiveGasPrice: "0x2",
    logs: [],
  };
  const log = {
    address: FACTORY,
    topics: [],
    data: "0x",
    blockHash: HASH,
    blockNumber: "0x5",
    transactionHash: HASH,
    logIndex: "0x0",
  };
  const other = `0x${"cc".repeat(32)}`;

  test("are null for an unknown transaction", async () => {
    answerBy({ eth_getTransactionReceipt: { result: null } });
    expect(await chain.getReceipt(toTxHash(HASH))).toBeNull();
  });

  test("are read without the logs that have no topic", async () => {
    answerBy({ eth_getTransactionReceipt: { result: { ...receipt, logs: [log] } } });
    expect(await chain.getReceipt(toTxHash(HASH))).toEqual({
      txHash: HASH,
      blockHash: HASH,
      blockNumber: 5n,
      succeeded: true,
      gasCost: 42_000n,
      effects: [],
    });
  });

  test("include the cost of gas and the fee of the parent chain", async () => {
    answerBy({ eth_getTransactionReceipt: { result: { ...receipt, l1Fee: "0x7" } } });
    expect((await chain.getReceipt(toTxHash(HASH)))?.gasCost).toBe(42_007n);
  });

  test.each([
    ["when of another transaction", { ...receipt, transactionHash: other }],
    ["without a block", { ...receipt, blockHash: null }],
    ["without a status", { ...receipt, status: undefined }],
    [
      "with logs of another transaction",
      { ...receipt, logs: [{ ...log, transactionHash: other }] },
    ],
    ["with logs of another block", { ...receipt, logs: [{ ...log, blockHash: other }] }],
    [
      "with an event of ours that is cut short",
      { ...receipt, logs: [{ ...log, topics: [SETTLED, HASH, HASH, HASH], data: "0x" }] },
    ],
  ])("are rejected %s [T48]", async (_what, result) => {
    answerBy({ eth_getTransactionReceipt: { result } });
    await expect(chain.getReceipt(toTxHash(HASH))).rejects.toMatchObject({
      code: "RPC_UNAVAILABLE",
      details: { reason: "malformed answer" },
    });
  });
});
