/** A stream of the sandbox's blocks that loses and repeats messages, and breaks. */
import { setTimeout as delay } from "node:timers/promises";
import { startYellowstoneStandIn } from "@sluice/sandbox/yellowstone";
import type { BlockStream } from "../../src/chains/solana/yellowstone/block-stream.ts";
import { startWatchedStream } from "../support/block-streams.ts";
import type { Level, Random } from "./run.ts";

export interface FaultyStream {
  readonly stream: BlockStream;
  /** Number of blocks that the reader took from the stream. */
  readonly used: () => number;
  /** Gives the stream some time to bring a slot, which it does unless it lost something. */
  follow(slot: bigint): Promise<void>;
  close(): Promise<void>;
}

/** Longer than the stream takes, shorter than it takes to connect again. */
const FOLLOW_MS = 100;

export async function openFaultyStream(
  upstream: string,
  commitment: Level,
  random: Random,
): Promise<FaultyStream> {
  const server = await startYellowstoneStandIn({ upstream, replaySlots: 40 });
  const stream = startWatchedStream({ url: server.url, commitment });
  await server.subscribed();
  server.faults.alter = (message) => {
    if (random(0.0005)) server.disconnect();
    if (random(0.02)) server.send(message);
    return random(0.03) ? null : message;
  };
  let used = 0;
  return {
    stream: {
      ...stream,
      async find(slot, waitMs) {
        const found = await stream.find(slot, waitMs);
        if (found.kind === "block") used += 1;
        return found;
      },
    },
    used: () => used,
    follow: (slot) => Promise.race([stream.reached(slot), delay(FOLLOW_MS)]),
    async close() {
      await stream.stop();
      await server.close();
    },
  };
}
