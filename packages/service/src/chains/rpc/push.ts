/**
 * Notices of new blocks from one node over WebSocket. A notice only starts a poll: the height in it decides nothing but
 * whether that poll can find a block. A connection that breaks, stays silent or sends something else is opened again, with
 * back-off, and polling continues meanwhile.
 */
import { WebSocket } from "ws";
import type { Clock, Random } from "../../core/ports.ts";
import { reasonOfFailure } from "./errors.ts";
import { encodeSubscription, type HeadSubscription, parsePushMessage } from "./push-messages.ts";

export interface PushOptions {
  /** May contain credentials; never displayed. */
  readonly wsUrl: string;
  readonly subscription: HeadSubscription;
  readonly clock: Clock;
  readonly random: Random;
  /** Called for each notice. */
  readonly onHead: (height: bigint) => void;
  /** Called when the subscription begins. */
  readonly onConnected: () => void;
  /** Called when a connection ends or fails, with a short reason of ours. */
  readonly onDisconnected: (ended: Ended) => void;
}

/** The end of a connection. */
export interface Ended {
  readonly reason: string;
  /** Whether there was a subscription. */
  readonly wasConnected: boolean;
  /** Whether it was ended by `stop`. */
  readonly isStopped: boolean;
}

export interface Push {
  stop(): Promise<void>;
}

/** Bytes of a message. A header has about two kilobytes. */
const MESSAGE_BYTES_MAX = 256 * 1024;
/** Messages between two pings. The fastest chains send some dozens. */
const MESSAGES_MAX = 1_000;
/** Time for the connection and the subscription. */
const SUBSCRIBE_MS = 10_000;
const PING_MS = 10_000;
/** A subscription without a notice for this long may be lost at the provider. */
const SILENCE_MS = 60_000;
const DELAY_MIN_MS = 500;
const DELAY_MAX_MS = 60_000;

/** Subscribes to the new blocks of a node until it is stopped. */
export function startPush(options: PushOptions): Push {
  const { clock, random, onDisconnected } = options;
  const stopping = new AbortController();

  async function run(): Promise<void> {
    let failures = 0;
    while (!stopping.signal.aborted) {
      const { hadNotice, ...ended } = await listen(options, stopping.signal);
      onDisconnected({ ...ended, isStopped: stopping.signal.aborted });
      if (stopping.signal.aborted) return;
      failures = hadNotice ? 1 : failures + 1;
      const delayMs = Math.min(DELAY_MIN_MS * 2 ** (failures - 1), DELAY_MAX_MS);
      // Spread, since all clients of a server that restarts come back at once.
      const share = 0.5 + Number.parseInt(random.uuid().slice(0, 8), 16) / 2 ** 33;
      await clock.sleep(delayMs * share, stopping.signal);
    }
  }

  const running = run();
  return {
    async stop() {
      stopping.abort();
      await running;
    },
  };
}

/** One connection, from its opening to its end. */
async function listen(
  options: PushOptions,
  stop: AbortSignal,
): Promise<Omit<Ended, "isStopped"> & { readonly hadNotice: boolean }> {
  const { clock, subscription, onHead, onConnected } = options;
  const socket = openSocket(options.wsUrl);
  if (!socket) return { reason: "invalid URL", wasConnected: false, hadNotice: false };
  const over = new AbortController();
  const { promise: reason, resolve } = Promise.withResolvers<string>();
  let id: string | undefined;
  let hadNotice = false;
  let heardMs = clock.now();
  let isAlive = false;
  let messages = 0;

  function end(why: string): void {
    if (over.signal.aborted) return;
    over.abort();
    socket?.terminate();
    resolve(why);
  }

  function receive(text: string): void {
    messages += 1;
    isAlive = true;
    if (messages > MESSAGES_MAX) return end("too many messages");
    const message = parsePushMessage(text, subscription);
    if (message.kind === "malformed") return end("malformed message");
    if (message.kind === "refused") return end("subscription refused");
    if (message.kind === "subscribed" && id === undefined) {
      ({ id } = message);
      heardMs = clock.now();
      onConnected();
    } else if (message.kind === "notice" && message.id === id) {
      hadNotice = true;
      heardMs = clock.now();
      onHead(message.height);
    }
  }

  async function watch(): Promise<void> {
    await clock.sleep(SUBSCRIBE_MS, over.signal);
    if (id === undefined) end("no subscription in time");
    while (!over.signal.aborted) {
      messages = 0;
      isAlive = false;
      socket?.ping();
      await clock.sleep(PING_MS, over.signal);
      if (!isAlive) end("no answer to a ping");
      else if (clock.now() - heardMs > SILENCE_MS) end("no notice in time");
    }
  }

  const stopped = () => end("stopped");
  stop.addEventListener("abort", stopped);
  socket.on("open", () => socket.send(encodeSubscription(subscription)));
  socket.on("message", (data, isBinary) => {
    if (over.signal.aborted) return;
    if (isBinary) end("malformed message");
    else receive(String(data));
  });
  socket.on("pong", () => {
    isAlive = true;
  });
  socket.on("unexpected-response", (_, { statusCode }) => end(`HTTP status ${statusCode}`));
  socket.on("error", (error) => end(reasonOfFailure(error)));
  socket.on("close", (code) => end(`closed (${code})`));
  if (stop.aborted) stopped();
  await Promise.all([reason, watch()]);
  stop.removeEventListener("abort", stopped);
  return { reason: await reason, wasConnected: id !== undefined, hadNotice };
}

/** Opens a connection without compression or redirects; null if the URL cannot be used. */
function openSocket(wsUrl: string): WebSocket | null {
  try {
    return new WebSocket(wsUrl, {
      maxPayload: MESSAGE_BYTES_MAX,
      perMessageDeflate: false,
      followRedirects: false,
      headers: { "user-agent": "sluice" },
    });
  } catch {
    // Its message quotes the URL.
    return null;
  }
}
