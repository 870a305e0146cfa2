/** Decoding of blocks in threads, against the same in this thread. */
import { expect, test } from "vitest";
import { createBlockText } from "../../../test/recorded/solana-load.ts";
import { gzippedBody, plainBody } from "../../../test/support/bodies.ts";
import { decodeBlock, expectRead } from "./block-decoder.ts";
import { createBlockDecoder } from "./block-workers.ts";
import { toBase58 } from "./base58.ts";

const TRANSACTIONS = createBlockText(1);

/** Returns the body of an answer with a block of some megabytes. */
function textOf(slot: number, transactions = TRANSACTIONS): string {
  const head = JSON.stringify({
    blockhash: toBase58(`0x${slot.toString(16).padStart(64, "a")}`),
    previousBlockhash: toBase58(`0x${"b1".repeat(32)}`),
    parentSlot: slot - 1,
    blockHeight: slot,
    blockTime: null,
  });
  const start = `{"jsonrpc":"2.0","id":1,"result":${head.slice(0, -1)}`;
  return `${start},"transactions":${transactions}}}`;
}

const bodyOf = (slot: number, transactions?: string) => plainBody(textOf(slot, transactions));

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
    decode(7n, plainBody(textOf(7).slice(0, -10))),
    decode(8n, bodyOf(8)),
  ]);
  expect(results.map(({ status }) => status)).toEqual(["rejected", "fulfilled"]);
});

test("a compressed block is decompressed in the thread", async () => {
  const body = gzippedBody(textOf(7));
  const decoded = await createBlockDecoder(1)(7n, body);
  expect(decoded).toEqual(decodeBlock(7n, bodyOf(7)));
  // It was handed over, not copied.
  expect(body.bytes.length).toBe(0);
});

test("a compressed block of several parts is decompressed in the thread", async () => {
  const text = Buffer.from(textOf(7));
  const parts = [text.subarray(0, -2), text.subarray(-2)].map((part) => gzippedBody(part).bytes);
  const body = { bytes: Buffer.concat(parts), encoding: "gzip" };
  const decoded = await createBlockDecoder(1)(7n, body);
  expect(decoded).toEqual(decodeBlock(7n, bodyOf(7)));
  expect(body.bytes.length).toBe(0);
});

test.each([
  ["that is damaged", "malformed answer", gzippedBody(textOf(7)).bytes.subarray(0, -9)],
  ["of more than 64 MiB", "answer too large", gzippedBody(Buffer.alloc(65 * 2 ** 20, " ")).bytes],
])("a compressed body %s is unusable, and the thread goes on", async (_, reason, bytes) => {
  const decode = createBlockDecoder(1);
  await expect(decode(7n, { bytes, encoding: "gzip" })).rejects.toMatchObject({ reason });
  expect(await decode(8n, bodyOf(8))).toMatchObject({ result: { kind: "block" } });
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
  const body = plainBody(JSON.stringify({ jsonrpc: "2.0", id: 1, error }));
  expect(createBlockDecoder(1)(7n, body)).toEqual({ jsonrpc: "2.0", id: 1, error });
});
