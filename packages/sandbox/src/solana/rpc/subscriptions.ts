/**
 * Subscriptions over WebSocket: slots, roots, signatures, accounts and logs. Each is read again after every block, in the view
 * of its commitment level.
 */
import type { Server } from "node:http";
import type { Address } from "@solana/kit";
import { type WebSocket, WebSocketServer } from "ws";
import { asRecord } from "../../json-file.ts";
import type { Chain } from "../chain.ts";
import { type Block, type CommitmentLevel, addressesOf } from "../ledger.ts";
import { toAccountForm, writeAccount } from "./account-json.ts";
import { type Params, readParams, toAddress, toCommitment } from "./params.ts";
import { invalidParams, RPC_CODES, RpcError, writeError } from "./rpc-error.ts";
import { toWireJson } from "./wire-json.ts";

const MESSAGE_BYTES_MAX = 10_000;
/** Subscriptions of one connection. */
const SUBSCRIPTIONS_MAX = 1_000;

/** One subscription. */
interface Watcher {
  /** Name of its notifications. */
  readonly notification: string;
  /** Returns the results that are due since the last call. */
  read(): readonly unknown[];
  /** Whether the first result ends it. */
  readonly isOnce?: boolean;
}

/** Starts a subscription from its parameters. */
type Watch = (params: Params) => Watcher;

/** Accepts WebSockets on servers. Returns the function that ends them. */
export function serveSubscriptions(servers: readonly Server[], chain: Chain): () => void {
  const watches = listWatches(chain);
  /** Watchers of each connection, by the id of their subscription. */
  const connections = new Map<WebSocket, Map<number, Watcher>>();
  let isClosed = false;
  let lastId = -1;

  /** Sends the results that are due on one connection. */
  function announce(socket: WebSocket): void {
    const watchers = connections.get(socket) ?? new Map<number, Watcher>();
    for (const [subscription, watcher] of watchers) {
      const results = watcher.read();
      if (watcher.isOnce && results.length > 0) watchers.delete(subscription);
      for (const result of results) {
        send(socket, { method: watcher.notification, params: { subscription, result } });
      }
    }
  }

  async function run(): Promise<void> {
    for (;;) {
      await chain.nextBlock();
      if (isClosed) return;
      for (const socket of connections.keys()) announce(socket);
    }
  }

  function answer(socket: WebSocket, method: string, params: Params): unknown {
    const watchers = connections.get(socket);
    if (method.endsWith("Unsubscribe")) {
      if (watchers?.delete(Number(params.integer(0, "a subscription")))) return true;
      throw invalidParams("Invalid subscription id.");
    }
    const watch = Object.hasOwn(watches, method) ? watches[method] : undefined;
    if (!watch || !watchers) throw new RpcError(RPC_CODES.methodNotFound, "Method not found");
    if (watchers.size >= SUBSCRIPTIONS_MAX) throw invalidParams("Too many subscriptions");
    lastId += 1;
    watchers.set(lastId, watch(params));
    return lastId;
  }

  function handle(socket: WebSocket, text: string): void {
    const { id, method, params } = parse(text);
    // A request without an id asks for no answer; clients send such pings.
    if (id === undefined) return;
    try {
      const result = answer(socket, String(method), readParams(params));
      send(socket, { result, id });
      // A signature may have reached its level before. After the answer, so that the client knows the subscription.
      announce(socket);
    } catch (error) {
      send(socket, { error: writeError(error), id });
    }
  }

  const sockets = servers.map((server) => {
    const accepting = new WebSocketServer({ server, maxPayload: MESSAGE_BYTES_MAX });
    accepting.on("connection", (socket) => {
      connections.set(socket, new Map());
      // A client that breaks the protocol ends its own connection.
      socket.on("error", () => socket.terminate());
      socket.on("close", () => connections.delete(socket));
      socket.on("message", (data) => handle(socket, String(data)));
    });
    return accepting;
  });
  void run();
  return () => {
    isClosed = true;
    for (const accepting of sockets) {
      for (const socket of accepting.clients) socket.terminate();
      accepting.close();
    }
  };
}

/** Returns the subscriptions by the name of their method. */
function listWatches(chain: Chain): Readonly<Record<string, Watch>> {
  const { ledger } = chain;
  const inContext = (slot: bigint, value: unknown) => ({ context: { slot }, value });
  /** Returns a function that returns the blocks which reached a commitment level since its last call. */
  const follow = (commitment: CommitmentLevel) => {
    let { slot: seen } = ledger.tip(commitment);
    return (): readonly Block[] => {
      const { slot: newest } = ledger.tip(commitment);
      const blocks = ledger.newest(BLOCKS_MAX).filter(({ slot }) => slot > seen && slot <= newest);
      // A fork lowers the newest slot, but never gives a slot to another block.
      seen = blocks.at(-1)?.slot ?? seen;
      return blocks;
    };
  };

  return {
    slotSubscribe: () => {
      const next = follow("processed");
      return {
        notification: "slotNotification",
        read: () => {
          // As on a real node: the slot that begins now, the block before it, and the newest final one.
          const root = ledger.tip("finalized").slot;
          return next().map(({ slot }) => ({ slot: slot + 1n, parent: slot, root }));
        },
      };
    },
    rootSubscribe: () => {
      const next = follow("finalized");
      return { notification: "rootNotification", read: () => next().map(({ slot }) => slot) };
    },
    signatureSubscribe: (params) => {
      const signature = params.text(0, "a signature");
      const commitment = toCommitment(params.optionsAt(1)["commitment"]);
      return {
        notification: "signatureNotification",
        isOnce: true,
        read: () => {
          const landed = ledger.transaction(signature);
          const { slot } = ledger.tip(commitment);
          if (!landed || landed.slot > slot) return [];
          return [inContext(slot, { err: landed.meta.err })];
        },
      };
    },
    accountSubscribe: (params) => {
      const owner = params.address(0);
      const options = params.optionsAt(1);
      const commitment = toCommitment(options["commitment"]);
      const form = toAccountForm(options);
      const write = () => {
        const { slot } = ledger.tip(commitment);
        const readAt = (address: Address) => chain.bank.history.readAt(address, slot);
        // A closed account is one without lamports, as on a real node.
        const value = writeAccount(readAt(owner), form, readAt) ?? CLOSED_ACCOUNT;
        return { slot, value, text: toWireJson(value) };
      };
      let last = write().text;
      return {
        notification: "accountNotification",
        read: () => {
          const { slot, value, text } = write();
          if (text === last) return [];
          last = text;
          return [inContext(slot, value)];
        },
      };
    },
    logsSubscribe: (params) => {
      const isWanted = readLogsFilter(params.at(0));
      const next = follow(toCommitment(params.optionsAt(1)["commitment"]));
      return {
        notification: "logsNotification",
        read: () =>
          next().flatMap(({ slot, transactions }) =>
            transactions
              .filter((landed) => isWanted(addressesOf(landed)))
              .map(({ decoded: { signature }, meta: { err, logMessages: logs } }) =>
                inContext(slot, { signature, err, logs }),
              ),
          ),
      };
    },
  };
}

/** The most blocks of one round of notifications. */
const BLOCKS_MAX = 1_000;
const CLOSED_ACCOUNT = {
  data: ["", "base64"],
  executable: false,
  lamports: 0,
  owner: "1".repeat(32),
  rentEpoch: 0,
  space: 0,
} as const;

/** Parses the filter of `logsSubscribe`: all transactions, or those that mention an address. */
function readLogsFilter(filter: unknown): (addresses: ReadonlySet<string>) => boolean {
  if (filter === "all" || filter === "allWithVotes") return () => true;
  const mentions = asRecord(filter)?.["mentions"];
  if (!Array.isArray(mentions) || mentions.length !== 1) {
    throw invalidParams("Invalid params: expected all, allWithVotes or mentions with one address");
  }
  const mentioned = toAddress(mentions[0]);
  return (addresses) => addresses.has(mentioned);
}

function send(socket: WebSocket, message: object): void {
  if (socket.readyState === socket.OPEN) socket.send(toWireJson({ jsonrpc: "2.0", ...message }));
}

/** Parses a request. Text that is not JSON has the id null, which is answered. */
function parse(text: string): {
  readonly id?: unknown;
  readonly method?: unknown;
  readonly params?: unknown;
} {
  try {
    return asRecord(JSON.parse(text)) ?? { id: null };
  } catch {
    return { id: null };
  }
}
