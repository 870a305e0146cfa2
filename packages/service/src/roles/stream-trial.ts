/** One attempt to receive a block from the stream of a Solana node. */
import { createBlockStream } from "../chains/solana/yellowstone/block-stream.ts";
import type { ChainConfig } from "../config/index.ts";
import type { StreamTrial } from "../doctor/index.ts";
import { systemClock, systemRandom } from "./system-ports.ts";

/** Some dozen slots; a stream begins with the next one. */
const DEADLINE_MS = 15_000;

/** Subscribes as the scanner does, and ends the subscription after the first whole block. */
export async function tryStream(
  chain: ChainConfig,
  { url, token }: { readonly url: string; readonly token: string | undefined },
): Promise<StreamTrial> {
  const startMs = systemClock.now();
  const { promise, resolve } = Promise.withResolvers<StreamTrial>();
  const stream = createBlockStream({
    url,
    token,
    commitment: chain.kind === "svm" ? chain.detectAt : "finalized",
    clock: systemClock,
    random: systemRandom,
  });
  stream.start({
    onBlock: () => resolve({ kind: "received", durationMs: systemClock.now() - startMs }),
    onBytes: () => undefined,
    onConnected: () => undefined,
    onDisconnected: ({ reason }) => resolve({ kind: "failed", reason }),
  });
  const over = new AbortController();
  void systemClock
    .sleep(DEADLINE_MS, over.signal)
    .then(() => resolve({ kind: "failed", reason: "no block in time" }));
  const trial = await promise;
  over.abort();
  await stream.stop();
  return trial;
}
