/** The worker of `block-workers.ts`: decodes one block after another. */
import { parentPort } from "node:worker_threads";
import { assert } from "../../core/assert.ts";
import { type Packed, UnusableBody } from "../rpc/packed.ts";
import { decodeBlock } from "./block-decoder.ts";
import type { Job, JobResult } from "./block-workers.ts";

assert(parentPort, "this file runs as a thread");
const port = parentPort;
port.on("message", ({ id, slot, body, encoding }: Job) => {
  const { buffer, byteOffset, byteLength } = body;
  const packed = { bytes: Buffer.from(buffer, byteOffset, byteLength), encoding };
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- of windows, which a thread is not
  port.postMessage(decode(id, slot, packed));
});

function decode(id: number, slot: bigint, body: Packed): JobResult {
  try {
    return { id, isDecoded: true, answer: decodeBlock(slot, body) };
  } catch (error) {
    const unusable = error instanceof UnusableBody ? error.reason : undefined;
    return { id, isDecoded: false, reason: String(error), unusable };
  }
}
