/**
 * Wake-ups: "look now", within a process at once and between processes through PostgreSQL's NOTIFY. They carry no
 * authority and may get lost: every loop looks by itself after its interval.
 */
import pg from "pg";
import { toClientConfig, type DatabaseAddress } from "../db/pool.ts";
import type { Clock } from "../core/ports.ts";
import type { Log } from "../telemetry/log.ts";

const CHANNEL = "sluice_wakeups";
/** A NOTIFY takes a lock of the whole server at commit, so many wake-ups share one. */
const BATCH_MS = 5;
/** Keeps a message under PostgreSQL's limit of 8000 bytes. */
const BATCH_MESSAGES = 100;
const RECONNECT_MS = 1_000;
const CONNECT_TIMEOUT_MS = 10_000;

export interface Wakeups {
  /** Says that there is something to look at. `subject` narrows it, such as an integrator's id. */
  wake(topic: string, subject?: string): void;
  /** Calls `listener` on each wake-up of a topic, with its subject or undefined. */
  on(topic: string, listener: (subject: string | undefined) => void): void;
  close(): Promise<void>;
}

/** Connects a process to the wake-ups of its database. */
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
  /** Names this process in its messages: the server process behind our listener, unique on the server. */
  let self: number | null = null;

  function deliver(topic: string, subject: string | undefined): void {
    for (const listener of listeners.get(topic) ?? []) {
      try {
        listener(subject);
      } catch (error) {
        // Whoever wakes has just committed its work; it must not fail for a listener.
        log.error({ err: error, topic }, "a listener of wake-ups failed");
      }
    }
  }

  async function flush(): Promise<void> {
    await clock.sleep(BATCH_MS);
    const messages = [...pending];
    pending.clear();
    sending = null;
    try {
      while (messages.length > 0) {
        const batch = JSON.stringify([self, ...messages.splice(0, BATCH_MESSAGES)]);
        await pool.query("select pg_notify($1, $2)", [CHANNEL, batch]);
      }
    } catch (error) {
      log.debug({ err: error }, "a wake-up was lost; the loops look by themselves");
    }
  }

  function receive(payload: string): void {
    let parts: (string | number | null)[];
    try {
      parts = JSON.parse(payload);
    } catch (error) {
      log.warn({ err: error }, "somebody else sends on the channel of wake-ups");
      return;
    }
    const [sender, ...messages] = parts;
    if (sender === self) return;
    for (const message of messages) {
      const [topic = "", subject] = String(message).split(" ");
      deliver(topic, subject);
    }
  }

  /** Listens over one connection until it breaks or is closed. */
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
      log.debug({ err: error }, "wake-ups are not connected; the loops look by themselves");
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
    },
    async close() {
      closing.abort();
      await listening;
      await sending;
    },
  };
}
