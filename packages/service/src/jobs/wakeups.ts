/**
 * Wake-ups of loops: immediate within a process, and through PostgreSQL's NOTIFY between processes. They carry no
 * authority and may be lost: every loop also polls after its interval.
 */
import pg from "pg";
import { toClientConfig, type DatabaseAddress } from "../db/pool.ts";
import type { Clock } from "../core/ports.ts";
import type { Log } from "../telemetry/log.ts";

const CHANNEL = "sluice_wakeups";
/** Collects wake-ups into one NOTIFY, which takes a server-wide lock at commit. */
const BATCH_MS = 5;
/** Least time between two of them. */
const GAP_MS = 25;
/** Wake-ups per message; keeps it below PostgreSQL's limit of 8000 bytes. */
const BATCH_MESSAGES = 100;
const RECONNECT_MS = 1_000;
const CONNECT_TIMEOUT_MS = 10_000;

export interface Wakeups {
  /** Wakes the listeners of a topic. `subject` narrows it, such as an integrator's id. */
  wake(topic: string, subject?: string): void;
  /** Calls `listener` on each wake-up of a topic, with its subject or undefined. Returns a function that ends this. */
  on(topic: string, listener: (subject: string | undefined) => void): () => void;
  /** Stops listening and sends the pending wake-ups. */
  close(): Promise<void>;
}

/** Connects a process to the wake-ups of its database. Reconnects after a lost connection. */
export function createWakeups(options: {
  readonly address: DatabaseAddress;
  readonly pool: pg.Pool;
  readonly clock: Clock;
  readonly log: Log;
}): Wakeups {
  const { address, pool, clock, log } = options;
  const listeners = new Map<string, ((subject: string | undefined) => void)[]>();
  const pending = new Set<string>();
  const closing = new AbortController();
  let sending: Promise<void> | null = null;
  let sentMs = Number.NEGATIVE_INFINITY;
  /** Sender id of this process: the server process id of its listening connection, unique on the server. */
  let self: number | null = null;

  function deliver(topic: string, subject: string | undefined): void {
    for (const listener of listeners.get(topic) ?? []) {
      try {
        listener(subject);
      } catch (error) {
        // The caller has just committed its work and must not fail because of a listener.
        log.error({ err: error, topic }, "wake-up listener failed");
      }
    }
  }

  async function flush(): Promise<void> {
    await clock.sleep(Math.max(BATCH_MS, sentMs + GAP_MS - clock.now()));
    sentMs = clock.now();
    const messages = [...pending];
    pending.clear();
    sending = null;
    try {
      while (messages.length > 0) {
        const batch = JSON.stringify([self, ...messages.splice(0, BATCH_MESSAGES)]);
        await pool.query("select pg_notify($1, $2)", [CHANNEL, batch]);
      }
    } catch (error) {
      log.debug({ err: error }, "wake-up not sent, loops poll by interval");
    }
  }

  function receive(payload: string): void {
    let parts: (string | number | null)[];
    try {
      parts = JSON.parse(payload);
    } catch (error) {
      log.warn({ err: error }, "invalid wake-up message ignored");
      return;
    }
    const [sender, ...messages] = parts;
    if (sender === self) return;
    for (const message of messages) {
      const [topic = "", subject] = String(message).split(" ");
      deliver(topic, subject);
    }
  }

  /** Listens over one connection until the connection ends or `close` is called. */
  async function listenOnce(): Promise<void> {
    const client = new pg.Client({
      ...toClientConfig(address),
      keepAlive: true,
      connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    });
    const over = Promise.withResolvers<void>();
    const finish = () => over.resolve();
    client.on("error", finish);
    client.on("end", finish);
    closing.signal.addEventListener("abort", finish);
    client.on("notification", ({ payload }) => payload && receive(payload));
    try {
      await client.connect();
      const { rows } = await client.query<{ pid: number }>("select pg_backend_pid() as pid");
      self = rows[0]?.pid ?? null;
      await client.query(`listen ${CHANNEL}`);
      if (!closing.signal.aborted) await over.promise;
    } catch (error) {
      log.debug({ err: error }, "wake-ups disconnected, loops poll by interval");
    } finally {
      closing.signal.removeEventListener("abort", finish);
      await client.end().catch(() => undefined);
    }
  }

  async function listen(): Promise<void> {
    while (!closing.signal.aborted) {
      await listenOnce();
      await clock.sleep(RECONNECT_MS, closing.signal);
    }
  }

  const listening = listen();
  return {
    wake(topic, subject) {
      deliver(topic, subject);
      pending.add(subject === undefined ? topic : `${topic} ${subject}`);
      sending ??= flush();
    },
    on(topic, listener) {
      listeners.set(topic, [...(listeners.get(topic) ?? []), listener]);
      return () => {
        const others = listeners.get(topic)?.filter((one) => one !== listener) ?? [];
        listeners.set(topic, others);
      };
    },
    async close() {
      closing.abort();
      await listening;
      await sending;
    },
  };
}
