/**
 * Limit on the requests that a process serves at the same time, of all keys together. It falls while the event loop is busy,
 * since money moves on the same one, and rises again afterwards. What waits is served by turns of the integrators, so
 * that one with many requests delays another by one of its own at most; what waits too long is refused.
 */
import { OperatingError } from "../core/errors.ts";
import { AWAKE, type Clock } from "../core/ports.ts";

/** Bounds of the limit. The least still answers, slowly, while settlements take the whole processor. */
const SERVED_MAX = 64;
const SERVED_MIN = 4;
/** Share of its time that the event loop was busy from which the limit falls. */
const BUSY = 0.8;
const FALL = 0.7;
const RISE = 2;
const WAIT_MS = 2_000;
/** Requests of one integrator that may wait. */
const WAITING_MAX = 64;
/** Interval of the changes of the limit, in milliseconds. */
export const CAPACITY_POLL_MS = 250;

/** The process has more requests than it can serve: 503, to be repeated. */
export class Overloaded extends OperatingError {
  readonly httpStatus = 503;
  readonly retryAfterS = 1;

  constructor() {
    super("RPC_UNAVAILABLE", "The service has more requests than it can serve. Try again.", {
      details: { reason: "overloaded", retryAfterSeconds: 1 },
    });
  }
}

export interface Capacity {
  /**
   * Waits for a place and returns the function that gives it back.
   * @throws Overloaded if none is free in time.
   */
  enter(integratorId: string): Promise<() => void>;
  /** Changes the limit by the share of its time that the event loop was busy lately. */
  adjust(busy: number): void;
}

/** Creates the limit. An integrator without a waiting request is not remembered. */
export function createCapacity(clock: Clock): Capacity {
  let limit = SERVED_MAX;
  let served = 0;
  /** The integrator whose turn is next first; of each, the request that waits longest first. */
  const waiting = new Map<string, Set<() => void>>();

  function serveNext(): void {
    while (served < limit) {
      const [next] = waiting;
      if (!next) return;
      const [integratorId, requests] = next;
      const [take] = requests;
      waiting.delete(integratorId);
      if (!take) continue;
      requests.delete(take);
      if (requests.size > 0) waiting.set(integratorId, requests);
      served += 1;
      take();
    }
  }

  /** Waits for a turn; false if it does not come in time. */
  function wait(integratorId: string): Promise<boolean> {
    const { promise, resolve } = Promise.withResolvers<boolean>();
    const requests = waiting.get(integratorId) ?? new Set();
    const over = new AbortController();
    const take = () => {
      resolve(true);
      over.abort(AWAKE);
    };
    waiting.set(integratorId, requests.add(take));
    void clock.sleep(WAIT_MS, over.signal).then(() => {
      if (!requests.delete(take)) return;
      if (requests.size === 0 && waiting.get(integratorId) === requests)
        waiting.delete(integratorId);
      resolve(false);
    });
    return promise;
  }

  return {
    async enter(integratorId) {
      if (served < limit && waiting.size === 0) {
        served += 1;
      } else {
        const isFull = (waiting.get(integratorId)?.size ?? 0) >= WAITING_MAX;
        if (isFull || !(await wait(integratorId))) throw new Overloaded();
      }
      let left = false;
      return () => {
        if (left) return;
        left = true;
        served -= 1;
        serveNext();
      };
    },
    adjust(busy) {
      limit =
        busy > BUSY
          ? Math.max(SERVED_MIN, Math.floor(limit * FALL))
          : Math.min(SERVED_MAX, limit + RISE);
      serveNext();
    },
  };
}
