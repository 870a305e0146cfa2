/**
 * A Solana node over real HTTP whose chain grows with a clock: slot after slot, some without a block. Counts the requests.
 * Everything about a slot follows from its number, so that the chain needs no memory.
 */
import { createHash } from "node:crypto";
import { gzipSync } from "node:zlib";
import type { Clock } from "../../src/core/ports.ts";
import { toHex32 } from "../../src/core/hex.ts";
import { toBase58 } from "../../src/chains/solana/base58.ts";
import { type HttpNode, type Sent, startHttpNode } from "./http-node.ts";

/** Slots from a confirmed block to a final one. */
const FINALITY_SLOTS = 31;

export interface ClusterOptions {
  readonly clock: Clock;
  readonly slotMs: number;
  /** The newest slot at the start. */
  readonly slot: number;
  /** Milliseconds by which the block of a slot is early or late. */
  readonly jitterOf?: (slot: number) => number;
  readonly isSkipped: (slot: number) => boolean;
  /** Whether only the head of the block can be read. */
  readonly isUnreadable?: (slot: number) => boolean;
  /** JSON text of the transactions of a block; none by default. */
  readonly transactionsOf?: (slot: number) => string;
  /** Whether answers with blocks are compressed; each text of transactions is compressed once. */
  readonly isCompressed?: boolean;
  /** Delay of every answer. */
  readonly latencyMs?: number;
}

export interface Cluster extends Pick<HttpNode, "url" | "stop"> {
  readonly genesisHash: `0x${string}`;
  /** Methods of the requests so far. */
  readonly methods: readonly string[];
  /** The newest slot with a block at a level. */
  newest(commitment: string): number;
  /** Number of blocks after a slot, up to another. */
  countBlocks(after: number, through: number): number;
}

/** The text of a result or an error; of a block in two parts. */
type Said = string | { readonly head: string; readonly transactions: string };

export function hashOfSlot(slot: number) {
  return toHex32(`0x${createHash("sha256").update(`slot ${slot}`).digest("hex")}`);
}

export async function startCluster(options: ClusterOptions): Promise<Cluster> {
  const { clock, slotMs, isSkipped, jitterOf = () => 0, transactionsOf = () => "[]" } = options;
  const startMs = clock.now();
  const methods: string[] = [];

  function newest(commitment: string): number {
    const behind = commitment === "finalized" ? FINALITY_SLOTS : 0;
    const elapsed = clock.now() - startMs;
    let slot = options.slot + Math.ceil(elapsed / slotMs) + 2;
    while (isSkipped(slot) || (slot - options.slot) * slotMs + jitterOf(slot) > elapsed) slot -= 1;
    slot -= behind;
    while (isSkipped(slot)) slot -= 1;
    return slot;
  }

  function below(slot: number): number {
    let parent = slot - 1;
    while (isSkipped(parent)) parent -= 1;
    return parent;
  }

  function getBlock([slot, about]: Sent["params"]): Said {
    // CAST: sent by our own adapter.
    const { commitment, transactionDetails } = about as Record<string, string>;
    const number = Number(slot);
    if (number > newest(commitment ?? "finalized")) {
      return failure(-32004, `Block not available for slot ${number}`);
    }
    if (isSkipped(number)) return failure(-32007, `Slot ${number} was skipped`);
    const parentSlot = below(number);
    const head = JSON.stringify({
      blockhash: toBase58(hashOfSlot(number)),
      previousBlockhash: toBase58(hashOfSlot(parentSlot)),
      parentSlot,
      blockHeight: number,
      blockTime: Math.floor((startMs + (number - options.slot) * slotMs) / 1_000),
    });
    if (transactionDetails === "none") return `"result":${head}`;
    if (options.isUnreadable?.(number)) return failure(-32603, "Internal error");
    return {
      head: `"result":${head.slice(0, -1)},"transactions":`,
      transactions: transactionsOf(number),
    };
  }

  function listBlocks([from, limit, about]: Sent["params"]): string {
    // CAST: sent by our own adapter.
    const last = newest((about as { commitment: string }).commitment);
    const slots: number[] = [];
    for (let slot = Number(from); slot <= last && slots.length < Number(limit); slot += 1) {
      if (!isSkipped(slot)) slots.push(slot);
    }
    return `"result":${JSON.stringify(slots)}`;
  }

  function answer({ method, params }: Sent): Said {
    methods.push(method);
    // CAST: sent by our own adapter.
    const { commitment = "finalized" } = (params.at(-1) ?? {}) as { commitment?: string };
    switch (method) {
      case "getGenesisHash":
        return `"result":${JSON.stringify(toBase58(hashOfSlot(0)))}`;
      case "getSlot":
        return `"result":${newest(commitment)}`;
      case "getBlock":
        return getBlock(params);
      case "getBlocksWithLimit":
        return listBlocks(params);
      default:
        return failure(-32601, "Method not found");
    }
  }

  const compressed = new Map<string, Buffer>();
  function compress(text: string): Buffer {
    const known = compressed.get(text) ?? gzipSync(text);
    compressed.set(text, known);
    return known;
  }

  const node = await startHttpNode(async ({ requests: [sent] }) => {
    if (!sent) throw new Error("expected one request");
    const start = `{"jsonrpc":"2.0","id":${sent.id},`;
    const { latencyMs = 0, isCompressed = false } = options;
    const said = answer(sent);
    if (latencyMs > 0) await new Promise((resolve) => setTimeout(resolve, latencyMs));
    if (typeof said === "string") return { body: `${start}${said}}` };
    if (!isCompressed) return { body: `${start}${said.head}${said.transactions}}}` };
    const parts = [gzipSync(start + said.head), compress(said.transactions), gzipSync("}}")];
    return { body: Buffer.concat(parts), headers: { "content-encoding": "gzip" } };
  });
  return {
    url: node.url,
    stop: () => node.stop(),
    genesisHash: hashOfSlot(0),
    methods,
    newest,
    countBlocks(after, through) {
      let count = 0;
      for (let slot = after + 1; slot <= through; slot += 1) count += isSkipped(slot) ? 0 : 1;
      return count;
    },
  };
}

function failure(code: number, message: string): string {
  return `"error":${JSON.stringify({ code, message })}`;
}
