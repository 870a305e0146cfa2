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
const RECONNECT_MS = 1_000;

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
  let client: pg.Client | null = null;

  function deliver(topic: string, subject: string | undefined): void {
    for (const listener of listeners.get(topic) ?? []) listener(subject);
  }

  async function flush(): Promise<void> {
    await clock.sleep(BATCH_MS);
    const batch = JSON.stringify([process.pid, ...pending]);
    pending.clear();
    sending = null;
    try {
      await pool.query("select pg_notify($1, $2)", [CHANNEL, batch]);
    } catch (error) {
      log.debug({ err: error }, "a wake-up was lost; the loops look by themselves");
    }
  }

  function receive(payload: string): void {
    const [sender, ...messages]: (string | number)[] = JSON.parse(payload);
    if (sender === process.pid) return;
    for (const message of messages) {
      const [topic = "", subject] = String(message).split(" ");
      deliver(topic, subject);
    }
  }

  async function listen(): Promise<void> {
    while (!closing.signal.aborted) {
      const next = new pg.Client(toClientConfig(address));
      const lost = new Promise<void>((resolve) => {
        next.on("error", () => resolve());
        next.on("end", () => resolve());
      });
      next.on("notification", ({ payload }) => payload && receive(payload));
      try {
        await next.connect();
        await next.query(`listen ${CHANNEL}`);
        client = next;
        await lost;
      } catch (error) {
        log.debug({ err: error }, "wake-ups are not connected; the loops look by themselves");
      }
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
      await client?.end();
      await listening;
      await sending;
    },
  };
}
