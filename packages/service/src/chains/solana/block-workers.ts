/**
 * Decompresses and decodes large blocks in threads. In the main thread, a block would delay everything else of the process for some twenty
 * milliseconds, and at most one processor would read blocks.
 */
import { availableParallelism } from "node:os";
import { Worker } from "node:worker_threads";
import { sizeOf, UnusableBody } from "../rpc/packed.ts";
import { type DecodeBlock, decodeBlock } from "./block-decoder.ts";

/** A smaller body is decoded at once: a message to a worker takes longer. */
const SMALL_BYTES = 128 * 1024;
const WORKERS_MAX = 4;
/** A block and its garbage have some dozens of megabytes. With little space they would be copied several times. */
const LIMITS = { maxYoungGenerationSizeMb: 64 };

/** A body to decode. */
export interface Job {
  readonly id: number;
  readonly slot: bigint;
  readonly body: Uint8Array;
  readonly encoding: string;
}

export type JobResult =
  | { readonly id: number; readonly isDecoded: true; readonly answer: unknown }
  | {
      readonly id: number;
      readonly isDecoded: false;
      readonly reason: string;
      readonly unusable: UnusableBody["reason"] | undefined;
    };

interface Thread {
  readonly worker: Worker;
  readonly open: Map<number, PromiseWithResolvers<unknown>>;
}

/** Returns a decoder that starts threads when the first large block arrives. They do not keep the process alive. */
export function createBlockDecoder(
  threadsMax = Math.min(WORKERS_MAX, availableParallelism()),
): DecodeBlock {
  const threads = new Set<Thread>();
  let lastId = 0;

  function start(): Thread {
    const worker = new Worker(new URL("./block-worker.ts", import.meta.url), {
      resourceLimits: LIMITS,
    });
    const thread: Thread = { worker, open: new Map() };
    const end = (error: Error) => {
      threads.delete(thread);
      for (const job of thread.open.values()) job.reject(error);
      thread.open.clear();
    };
    worker.on("message", (result: JobResult) => {
      const job = thread.open.get(result.id);
      thread.open.delete(result.id);
      if (thread.open.size === 0) worker.unref();
      if (result.isDecoded) job?.resolve(result.answer);
      else job?.reject(errorOf(result));
    });
    worker.on("error", (error) => end(error instanceof Error ? error : new Error(String(error))));
    worker.on("exit", () => end(new Error("the thread ended")));
    worker.unref();
    threads.add(thread);
    return thread;
  }

  /** Returns an idle thread, else a new one, else the one with the fewest jobs. */
  function choose(): Thread {
    const [first] = [...threads].toSorted((one, other) => one.open.size - other.open.size);
    return first && (first.open.size === 0 || threads.size >= threadsMax) ? first : start();
  }

  return (slot, packed) => {
    if (sizeOf(packed) <= SMALL_BYTES) return decodeBlock(slot, packed);
    const { bytes: body, encoding } = packed;
    const thread = choose();
    const id = (lastId += 1);
    const job = Promise.withResolvers<unknown>();
    thread.open.set(id, job);
    thread.worker.ref();
    const isWhole = body.buffer instanceof ArrayBuffer && body.length === body.buffer.byteLength;
    thread.worker.postMessage(
      { id, slot, body, encoding } satisfies Job,
      isWhole ? [body.buffer] : [],
    );
    return job.promise;
  };
}

function errorOf({ unusable, reason }: JobResult & { readonly isDecoded: false }): Error {
  return unusable === undefined ? new TypeError(reason) : new UnusableBody(unusable);
}
