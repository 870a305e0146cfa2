/**
 * Server-sent events of pay pages. An event is the whole status of one link, and its id is the version of the content: a page
 * that comes back with the id of the last event it saw gets the next one only when something has changed since, and never
 * misses a state that lasts.
 *
 * One read serves all streams of a link. A link is read when its integrator has an event, at short intervals while
 * confirmations are counted, and otherwise seldom. Links and streams are bounded; a page that is refused polls instead.
 */
import type { ServerResponse } from "node:http";
import type { PayStatus } from "@sluice/sdk/wire";
import { OperatingError } from "../core/errors.ts";
import type { Clock } from "../core/ports.ts";
import { isMoving, type OpenPayLink } from "../pay/index.ts";
import type { Log } from "../telemetry/log.ts";

/** Streams of one link, and of all links in this process. */
export const PAY_STREAMS = { perLink: 20, total: 2_000 } as const;
/** Interval of reads while confirmations are counted, and otherwise, in milliseconds. */
const MOVING_MS = 1_500;
const RESTING_MS = 15_000;
/** A comment at this interval keeps the connection open, which ends after 15 seconds of silence. */
const BEAT_MS = 8_000;
/** Interval at which links are checked for their revocation and expiry. */
const CHECK_MS = 2_000;
/** Reading time of one round: other work of the process waits meanwhile. */
const ROUND_MS = 400;
/** Bytes that may wait for a client that does not read. */
const WAITING_MAX = 256 * 1024;
/** Delay before a page connects again, in milliseconds. */
const RETRY_MS = 3_000;

export interface PayStreams {
  /**
   * Adds a stream. Its first event comes at once, unless the page has seen the newest version.
   * @throws OperatingError RPC_UNAVAILABLE if there are too many streams.
   */
  open(
    link: OpenPayLink,
    to: {
      readonly response: ServerResponse;
      /** Version that the page saw last; empty for none. */
      readonly seen: string;
      /** Begins the answer, once nothing can refuse it any more. */
      readonly begin: () => void;
    },
  ): void;
  /** Makes the next round read the links of an integrator. */
  prefer(integratorId: string): void;
  /** Reads the links that are due, sends changes and keeps connections open. Called by a loop. */
  pump(): Promise<boolean>;
  /** Returns the number of open streams. */
  count(): number;
  /** Ends every stream. */
  close(): void;
}

interface Listener {
  readonly response: ServerResponse;
  /** Version that was sent last. */
  seen: string;
  beatAt: number;
}

interface Watched {
  readonly link: OpenPayLink;
  readonly listeners: Set<Listener>;
  dueAt: number;
}

export function createPayStreams(deps: {
  readonly clock: Clock;
  readonly log: Log;
  readonly read: (link: OpenPayLink) => Promise<PayStatus>;
  /** Returns those of the links that may be shown now. */
  readonly listOpen: (ids: readonly string[]) => Promise<ReadonlySet<string>>;
}): PayStreams {
  const { clock, log } = deps;
  const watched = new Map<string, Watched>();
  let total = 0;
  let checkAt = 0;

  function end(one: Watched, listener: Listener): void {
    if (!one.listeners.delete(listener)) return;
    total -= 1;
    if (one.listeners.size === 0) watched.delete(one.link.id);
    listener.response.end();
  }

  function write(one: Watched, listener: Listener, text: string): void {
    const { response } = listener;
    listener.beatAt = clock.now() + BEAT_MS;
    if (response.writableLength > WAITING_MAX) {
      end(one, listener);
      response.destroy();
    } else response.write(text);
  }

  async function readOn(one: Watched): Promise<void> {
    const status = await deps.read(one.link);
    one.dueAt = clock.now() + (isMoving(status) ? MOVING_MS : RESTING_MS);
    const behind = [...one.listeners].filter(({ seen }) => seen !== status.version);
    if (behind.length === 0) return;
    const text = `event: status\nid: ${status.version}\ndata: ${JSON.stringify(status)}\n\n`;
    for (const listener of behind) {
      listener.seen = status.version;
      write(one, listener, text);
    }
  }

  async function endRefused(): Promise<void> {
    if (clock.now() < checkAt) return;
    checkAt = clock.now() + CHECK_MS;
    const open = await deps.listOpen([...watched.keys()]);
    for (const one of [...watched.values()].filter(({ link }) => !open.has(link.id))) {
      for (const listener of one.listeners) {
        write(one, listener, "event: ended\ndata: {}\n\n");
        end(one, listener);
      }
    }
  }

  return {
    open(link, { response, seen, begin }) {
      const one = watched.get(link.id) ?? { link, listeners: new Set<Listener>(), dueAt: 0 };
      if (total >= PAY_STREAMS.total || one.listeners.size >= PAY_STREAMS.perLink) {
        throw new OperatingError("RPC_UNAVAILABLE", "Too many pages are open: poll instead.", {
          details: { reason: "too_many_streams" },
        });
      }
      const listener: Listener = { response, seen, beatAt: 0 };
      one.listeners.add(listener);
      one.dueAt = 0;
      watched.set(link.id, one);
      total += 1;
      begin();
      response.once("close", () => end(one, listener));
      write(one, listener, `retry: ${RETRY_MS}\n\n`);
    },
    prefer(integratorId) {
      for (const one of watched.values()) {
        if (one.link.integratorId === integratorId) one.dueAt = 0;
      }
    },
    async pump() {
      await endRefused();
      const until = clock.now() + ROUND_MS;
      const due = [...watched.values()]
        .filter(({ dueAt }) => dueAt <= clock.now())
        .toSorted((a, b) => a.dueAt - b.dueAt);
      let isDone = true;
      for (const one of due) {
        if (clock.now() > until) {
          isDone = false;
          break;
        }
        try {
          await readOn(one);
        } catch (error) {
          // The next round reads it again; the others must not wait for it.
          one.dueAt = clock.now() + MOVING_MS;
          log.warn({ err: error, link: one.link.id }, "status of a pay link not read, retrying");
        }
      }
      for (const one of watched.values()) {
        for (const listener of one.listeners) {
          if (listener.beatAt <= clock.now()) write(one, listener, ": \n\n");
        }
      }
      return !isDone;
    },
    count: () => total,
    close() {
      for (const one of watched.values()) {
        for (const listener of one.listeners) end(one, listener);
      }
    },
  };
}
