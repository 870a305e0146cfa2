/** Views at the newest final block, on nodes that know the tag `finalized` for blocks and not for state. */
import { afterEach, beforeEach, expect, test } from "vitest";
import { toEvmAddress, toHex32 } from "../../core/hex.ts";
import {
  type MalformedNode,
  type Reply,
  startMalformedNode,
} from "../../../test/evm/malformed-node.ts";
import { readView } from "./calls.ts";
import { createRpc, type Rpc } from "./rpc.ts";

const TO = toEvmAddress(`0x${"aa".repeat(20)}`);
const HASH = toHex32(`0x${"bb".repeat(32)}`);
const BLOCK = { number: "0x5", hash: HASH, parentHash: HASH, timestamp: "0x1" };

let node: MalformedNode;
let rpc: Rpc;

beforeEach(async () => {
  node = await startMalformedNode();
  rpc = createRpc({ chainId: 2, rpcUrl: node.rpcUrl, timeoutMs: 2_000 });
});
afterEach(async () => {
  await node.stop();
});

const readFinal = () => readView(rpc, { to: TO, data: "0x", at: "final" }, (returned) => returned);

/** Answers calls at the tag with an error, and calls at a block with a value. */
function refuseTag(error: object, block: Reply = { result: BLOCK }): void {
  node.answer(({ method, params }) => {
    if (method === "eth_getBlockByNumber") return block;
    return params[1] === "finalized" ? { error } : { result: "0x07" };
  });
}

test.each([
  [-32602, "invalid argument 1: hex string without 0x prefix"],
  [-32000, "finalized block not found"],
  [-32000, "Unknown block tag"],
])("reads the final block by its hash after %d %s", async (code, message) => {
  refuseTag({ code, message });
  expect(await readFinal()).toBe("0x07");
  expect(node.asked.map(({ method, params }) => [method, params.at(-1)])).toEqual([
    ["eth_call", "finalized"],
    ["eth_getBlockByNumber", false],
    ["eth_call", { blockHash: HASH, requireCanonical: true }],
  ]);
});

test("never reads a block that is not final", async () => {
  refuseTag({ code: -32602, message: "invalid block tag" }, { result: null });
  await expect(readFinal()).rejects.toMatchObject({
    code: "RPC_UNAVAILABLE",
    details: { reason: "no finalized block" },
  });
});

test.each([
  [3, "execution reverted: finalized", "reverted"],
  [-32000, "missing trie node 0a", "state pruned"],
  [-32601, "the method eth_call does not exist", "method not supported"],
])("does not read again after %d %s", async (code, message, reason) => {
  refuseTag({ code, message });
  await expect(readFinal()).rejects.toMatchObject({ details: { reason } });
  expect(node.asked).toHaveLength(1);
});

test("views of our contracts are one call, and a foreign contract has its own [T306, T313]", async () => {
  const word = (value: number) => value.toString(16).padStart(64, "0");
  node.answer(({ params }) => {
    const { to, data } = Object(params[0]);
    const both = ["01", "02"].map((one) => `${word(1)}${word(1)}${one}`).join("");
    return { result: to === undefined ? `0x${both}` : data };
  });
  const view = (data: "0x01" | "0x02", isForeign: boolean) =>
    readView(rpc, { to: TO, data, at: "latest", isForeign }, (returned) => returned);
  const read = [view("0x01", false), view("0x02", false), view("0x01", false), view("0x01", true)];
  expect(await Promise.all(read)).toEqual(["0x01", "0x02", "0x01", "0x01"]);
  expect(node.asked).toHaveLength(2);
});

test("receipts of a block are read one by one, since strangers decide how long they are [T313]", async () => {
  node.answer(() => ({ result: null }));
  const read = () => rpc.ask("eth_getTransactionReceipt", [HASH], (result) => result);
  expect(await Promise.all([read(), read()])).toEqual([null, null]);
  expect(node.asked).toHaveLength(2);
});
