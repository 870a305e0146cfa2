/** Decoding of blocks in threads, against the same in this thread. */
import { expect, test } from "vitest";
import { createBlockText } from "../../../test/recorded/solana-load.ts";
import { decodeBlock, expectRead } from "./block-decoder.ts";
import { createBlockDecoder } from "./block-workers.ts";
import { toBase58 } from "./base58.ts";

const TRANSACTIONS = createBlockText(1);

/** Returns the body of an answer with a block of some megabytes. */
function bodyOf(slot: number, transactions = TRANSACTIONS): Buffer {
  const head = JSON.stringify({
    blockhash: toBase58(`0x${slot.toString(16).padStart(64, "a")}`),
    previousBlockhash: toBase58(`0x${"b1".repeat(32)}`),
    parentSlot: slot - 1,
    blockHeight: slot,
    blockTime: null,
  });
  const start = `{"jsonrpc":"2.0","id":1,"result":${head.slice(0, -1)}`;
  return Buffer.from(`${start},"transactions":${transactions}}}`);
}

test("threads decode blocks as the caller's thread does, also several at once", async () => {
  const decode = createBlockDecoder(2);
  const slots = [7, 8, 9, 10, 11];
  const decoded = await Promise.all(slots.map((slot) => decode(BigInt(slot), bodyOf(slot))));
  expect(decoded).toEqual(slots.map((slot) => decodeBlock(BigInt(slot), bodyOf(slot))));
  expect(decoded).toMatchObject(
    slots.map((slot) => ({ result: { block: { height: BigInt(slot) } } })),
  );
});

test("a body that is not JSON is refused, and the thread goes on", async () => {
  const decode = createBlockDecoder(1);
  const results = await Promise.allSettled([
    decode(7n, bodyOf(7).subarray(0, -10)),
    decode(8n, bodyOf(8)),
  ]);
  expect(results.map(({ status }) => status)).toEqual(["rejected", "fulfilled"]);
});

test("a large answer without a block is refused where it is read", async () => {
  const decode = createBlockDecoder(1);
  const answer = await decode(7n, bodyOf(7, TRANSACTIONS.replaceAll("preBalances", "balances")));
  expect(answer).toMatchObject({ id: 1, result: { kind: "malformed" } });
  const { result } = Object(answer);
  expect(() => expectRead(result)).toThrow(new TypeError("expected a block"));
});

test("an error of the node is passed on", () => {
  const error = { code: -32007, message: "Slot 7 was skipped" };
  const body = Buffer.from(JSON.stringify({ jsonrpc: "2.0", id: 1, error }));
  expect(createBlockDecoder(1)(7n, body)).toEqual({ jsonrpc: "2.0", id: 1, error });
});
