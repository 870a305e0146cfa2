/** The worker of `block-workers.ts`: decodes one block after another. */
import { parentPort } from "node:worker_threads";
import { assert } from "../../core/assert.ts";
import { decodeBlock } from "./block-decoder.ts";
import type { Job, JobResult } from "./block-workers.ts";

assert(parentPort, "this file runs as a thread");
const port = parentPort;
port.on("message", ({ id, slot, body }: Job) => {
  const { buffer, byteOffset, byteLength } = body;
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- of windows, which a thread is not
  port.postMessage(decode(id, slot, Buffer.from(buffer, byteOffset, byteLength)));
});

function decode(id: number, slot: bigint, body: Buffer): JobResult {
  try {
    return { id, isDecoded: true, answer: decodeBlock(slot, body) };
  } catch (error) {
    return { id, isDecoded: false, reason: String(error) };
  }
}
