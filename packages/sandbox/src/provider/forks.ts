/**
 * Reorgs in front of a node that has none: for a while the newest blocks have other hashes, with the same contents,
 * and then the node's own again. Hashes are replaced in requests and answers, so the imitated blocks form a chain: each names
 * the hash of its parent. Blocks that the node calls final are never changed.
 *
 * Assumes: 66 characters that are a block hash have no other meaning anywhere in JSON.
 */
import { createHash } from "node:crypto";
import { asRecord } from "../json-file.ts";
import { parseQuantity, toQuantity } from "./json-rpc.ts";
import type { Random } from "./random.ts";
import type { ProviderSettings } from "./settings.ts";
import type { Counter } from "./stats.ts";
import type { Upstream } from "./upstream.ts";

/** Most messages that see one fork. */
const MESSAGES_MAX = 20;

/** The hashes of one fork. */
export interface ForkView {
  /** The lowest changed block. */
  readonly first: number;
  /** Returns a request for the node, or undefined if it names a block that is orphaned now. */
  toNode(text: string): string | undefined;
  /** Returns a response for the client. */
  toClient(body: Buffer): Buffer;
}

export interface Forks {
  /** Returns the hashes that the next message sees; undefined for the node's own. Begins and ends forks. */
  next(): Promise<ForkView | undefined>;
  /** Returns the current hashes without a change; undefined for the node's own. */
  current(): Promise<ForkView | undefined>;
  /** Reports whether the node has meanwhile made a changed block final, so that an answer must not show it. Ends the fork. */
  isOver(view: ForkView): Promise<boolean>;
}

interface Fork {
  readonly first: number;
  readonly salt: number;
  messagesLeft: number;
}

export function createForks(options: {
  readonly upstream: Upstream;
  readonly settings: () => ProviderSettings;
  readonly random: Random;
  readonly counter: Counter;
}): Forks {
  const { upstream, settings, random, counter } = options;
  let fork: Fork | undefined;
  let turn: Promise<unknown> = Promise.resolve();

  async function readBlock(tag: string) {
    const block = asRecord(await upstream.ask("eth_getBlockByNumber", [tag, false]));
    return { number: parseQuantity(block?.["number"]) ?? 0, hash: String(block?.["hash"]) };
  }

  async function advance(): Promise<ForkView | undefined> {
    if (fork !== undefined) {
      fork.messagesLeft -= 1;
      if (fork.messagesLeft < 0) end();
    } else if (random.happens(settings().reorg)) {
      const [head, final] = await Promise.all([readBlock("latest"), readBlock("finalized")]);
      const depth = 1 + random.below(settings().reorgDepth);
      const first = Math.max(final.number + 1, head.number - depth + 1);
      if (first <= head.number) {
        fork = { first, salt: random.next(), messagesLeft: 1 + random.below(MESSAGES_MAX) };
        counter.add("reorgs", 1);
      }
    }
    return view();
  }

  function end(): void {
    fork = undefined;
    counter.add("reorgs", 1);
  }

  async function view(): Promise<ForkView | undefined> {
    if (fork === undefined) return undefined;
    const { first, salt } = fork;
    const [head, final] = await Promise.all([readBlock("latest"), readBlock("finalized")]);
    if (final.number >= first) {
      end();
      return undefined;
    }
    const numbers = Array.from({ length: head.number - first + 1 }, (_, index) => first + index);
    const blocks = await Promise.all(numbers.map((number) => readBlock(toQuantity(number))));
    return createView(
      first,
      blocks.map(({ hash }) => [hash, forkHash(hash, salt)] as const),
    );
  }

  /** Runs one after the other, so that all messages of a fork see the same one. */
  function inTurn<T>(work: () => Promise<T>): Promise<T> {
    const next = turn.then(work);
    turn = next.catch(() => undefined);
    return next;
  }

  return {
    next: async () => (settings().reorg === 0 && fork === undefined ? undefined : inTurn(advance)),
    current: async () => (fork === undefined ? undefined : inTurn(view)),
    isOver: async ({ first }) => {
      const final = await readBlock("finalized");
      if (final.number < first) return false;
      if (fork !== undefined && final.number >= fork.first) end();
      return true;
    },
  };
}

function forkHash(hash: string, salt: number): string {
  return `0x${createHash("sha256").update(`${hash} ${salt}`).digest("hex")}`;
}

function createView(first: number, pairs: readonly (readonly [string, string])[]): ForkView {
  return {
    first,
    toNode: (text) => {
      if (pairs.some(([node]) => text.includes(node))) return undefined;
      return pairs.reduce((changed, [node, fork]) => changed.replaceAll(fork, node), text);
    },
    toClient: (body) => {
      if (!pairs.some(([node]) => body.includes(node))) return body;
      const text = body.toString("utf8");
      return Buffer.from(
        pairs.reduce((changed, [node, fork]) => changed.replaceAll(node, fork), text),
      );
    },
  };
}
