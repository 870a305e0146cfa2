/**
 * Limit on the requests of one key that are served at the same time. A further one waits its turn for a short time: a client
 * that sends a burst is served more slowly, and one that sends more than is served is refused. Connections, nodes and memory
 * that one key holds are so bounded, whatever its requests cost.
 */
import { OperatingError } from "../core/errors.ts";
import { AWAKE, type Clock } from "../core/ports.ts";

/** Requests of one key that may wait, for each that is served. */
const WAITING_PER_SERVED = 8;

/** A key has as many requests in service as it may have: 429, as for a rate limit. */
export class TooManyAtOnce extends OperatingError {
  readonly httpStatus = 429;
  readonly retryAfterS = 1;

  constructor(max: number) {
    super(
      "RPC_UNAVAILABLE",
      `Too many requests at the same time: this key may have ${max} in progress.`,
      { details: { reason: "too_many_at_once", max, retryAfterSeconds: 1 } },
    );
  }
}

export interface AtOnce {
  /**
   * Waits for a place among the requests of a key and returns the function that gives it back.
   * @throws TooManyAtOnce if none is free in time.
   */
  enter(keyId: string): Promise<() => void>;
}

interface Places {
  served: number;
  readonly waiting: Set<() => void>;
}

/** Creates the limit. A key that has no request in progress is not remembered. */
export function createAtOnce(
  { perKey, waitMs }: { readonly perKey: number; readonly waitMs: number },
  clock: Clock,
): AtOnce {
  const keys = new Map<string, Places>();

  function leave(keyId: string, places: Places): void {
    const [next] = places.waiting;
    // The place goes to the request that waits longest, so that no newer one takes it.
    if (next) return next();
    places.served -= 1;
    if (places.served === 0) keys.delete(keyId);
  }

  /** Waits for the place of another request; false if it does not come in time. */
  function wait(places: Places): Promise<boolean> {
    const { promise, resolve } = Promise.withResolvers<boolean>();
    const served = new AbortController();
    const take = () => {
      places.waiting.delete(take);
      resolve(true);
      served.abort(AWAKE);
    };
    places.waiting.add(take);
    void clock.sleep(waitMs, served.signal).then(() => {
      if (places.waiting.delete(take)) resolve(false);
    });
    return promise;
  }

  return {
    async enter(keyId) {
      const places = keys.get(keyId) ?? { served: 0, waiting: new Set() };
      keys.set(keyId, places);
      if (places.served < perKey) {
        places.served += 1;
      } else {
        const isFull = places.waiting.size >= perKey * WAITING_PER_SERVED;
        if (isFull || !(await wait(places))) throw new TooManyAtOnce(perKey);
      }
      let left = false;
      return () => {
        if (!left) leave(keyId, places);
        left = true;
      };
    },
  };
}
