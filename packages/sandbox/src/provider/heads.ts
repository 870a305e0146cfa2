/**
 * Notifications over WebSocket: `eth_subscribe` of `newHeads` and Solana's `slotSubscribe`. The node is polled for new
 * heads, so any node will do; they name the newest block, which a lagging replica does not have yet.
 */
import { setTimeout as delay } from "node:timers/promises";
import { asRecord } from "../json-file.ts";
import type { Forks } from "./forks.ts";
import { parseQuantity, toQuantity } from "./json-rpc.ts";
import type { Counter } from "./stats.ts";
import type { Upstream } from "./upstream.ts";

/** Members of a block that a notification lacks. */
const BODY_FIELDS = ["transactions", "uncles", "size", "totalDifficulty", "withdrawals"];

const POLL_MS = 20;
/** Most heads to announce after a gap; a real node sends each of them too. */
const HEADS_MAX = 100;

export interface Heads {
  /** Calls `notify` for each new head until the returned function is called. */
  subscribe(notify: (result: unknown) => void): () => void;
  close(): void;
}

/** Returns the new heads of an EVM chain. */
export function createEvmHeads(upstream: Upstream, forks: Forks, counter: Counter): Heads {
  let last: { number: number; hash: string } | undefined;

  async function readHeader(tag: string): Promise<Readonly<Record<string, unknown>>> {
    const block = asRecord(await upstream.ask("eth_getBlockByNumber", [tag, false])) ?? {};
    const header = Object.fromEntries(
      Object.entries(block).filter(([field]) => !BODY_FIELDS.includes(field)),
    );
    const view = await forks.current();
    if (view === undefined) return header;
    const changed = view.toClient(Buffer.from(JSON.stringify(header)));
    return asRecord(JSON.parse(changed.toString("utf8"))) ?? header;
  }

  return createLoop(counter, async () => {
    const newest = await readHeader("latest");
    const number = parseQuantity(newest["number"]) ?? 0;
    const hash = String(newest["hash"]);
    if (last?.hash === hash) return [];
    const from = Math.max((last?.number ?? number - 1) + 1, number - HEADS_MAX);
    last = { number, hash };
    const between = Array.from({ length: Math.max(0, number - from) }, (_, index) => from + index);
    const headers = await Promise.all(between.map((height) => readHeader(toQuantity(height))));
    return [...headers, newest];
  });
}

/** Returns the new slots of Solana. */
export function createSolanaHeads(upstream: Upstream, counter: Counter): Heads {
  let last: number | undefined;
  return createLoop(counter, async () => {
    const slot = await upstream.ask("getSlot", [{ commitment: "processed" }]);
    if (typeof slot !== "number" || slot === last) return [];
    const from = Math.max((last ?? slot - 1) + 1, slot - HEADS_MAX);
    last = slot;
    const root = await upstream.ask("getSlot", [{ commitment: "finalized" }]);
    return Array.from({ length: Math.max(1, slot - from + 1) }, (_, index) => ({
      parent: slot - index - 1,
      root,
      slot: slot - index,
    })).toReversed();
  });
}

/** Polls while there are listeners. */
function createLoop(counter: Counter, poll: () => Promise<readonly unknown[]>): Heads {
  const listeners = new Set<(result: unknown) => void>();
  let running = false;

  async function run(): Promise<void> {
    running = true;
    while (listeners.size > 0) {
      try {
        for (const head of await poll()) {
          for (const listener of listeners) listener(head);
        }
      } catch {
        // The socket stays silent, as a real one would.
        counter.add("nodeFailures", 1);
      }
      await delay(POLL_MS);
    }
    running = false;
  }

  return {
    subscribe: (notify) => {
      listeners.add(notify);
      if (!running) void run();
      return () => listeners.delete(notify);
    },
    close: () => listeners.clear(),
  };
}
