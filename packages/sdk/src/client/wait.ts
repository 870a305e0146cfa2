/** Waiting that ends early: by a signal, when the time is over, or by being woken. It leaves nothing at the signal. */

/** What a timer can hold: a longer one would end at once. */
const TIMER_MAX_MS = 2 ** 31 - 1;

/** A pause that can be ended. */
export interface Pause {
  /** Ends the pause under way, or the next one. */
  wake(): void;
  /** Resolves after `ms`, when woken, or when the signal aborts; never rejects. */
  wait(ms: number): Promise<void>;
}

/** Makes a pause that a signal ends for good. */
export function createPause(signal?: AbortSignal): Pause {
  let end: (() => void) | undefined;
  let woken = false;
  return {
    wake() {
      woken = true;
      end?.();
    },
    async wait(ms) {
      if (!woken && !signal?.aborted) {
        await new Promise<void>((resolve) => {
          const finish = () => {
            clearTimeout(timer);
            signal?.removeEventListener("abort", finish);
            resolve();
          };
          const timer = setTimeout(finish, Math.min(ms, TIMER_MAX_MS));
          signal?.addEventListener("abort", finish);
          end = finish;
        });
      }
      end = undefined;
      woken = false;
    },
  };
}

/** An end of waiting. */
export interface End {
  /** Aborts when the time is over, with a `TimeoutError`, or with the signal that it was made of, for its reason. */
  readonly signal: AbortSignal;
  /** Lets go of the timer and of that signal. */
  release(): void;
}

/** Makes an end: after `ms`, or never without it, and with `signal`. */
export function createEnd(ms: number | undefined, signal: AbortSignal | undefined): End {
  const ending = new AbortController();
  const follow = () => ending.abort(signal?.reason);
  let timer: ReturnType<typeof setTimeout> | undefined;
  const deadline = ms === undefined ? Number.POSITIVE_INFINITY : Date.now() + ms;
  const look = () => {
    const left = deadline - Date.now();
    if (left > 0) timer = setTimeout(look, Math.min(left, TIMER_MAX_MS));
    else ending.abort(new DOMException("The time is over.", "TimeoutError"));
  };
  if (ms !== undefined) look();
  if (signal?.aborted) follow();
  signal?.addEventListener("abort", follow);
  return {
    signal: ending.signal,
    release() {
      clearTimeout(timer);
      signal?.removeEventListener("abort", follow);
    },
  };
}

/** What the work gives; undefined when the signal aborts first. The work's own end is not waited for then. */
export async function untilAborted<T>(
  work: Promise<T>,
  signal: AbortSignal | undefined,
): Promise<{ readonly value: T } | undefined> {
  let leave = (): void => undefined;
  const aborted = new Promise<undefined>((resolve) => {
    leave = () => resolve(undefined);
  });
  if (signal?.aborted) leave();
  signal?.addEventListener("abort", leave);
  try {
    return await Promise.race([work.then((value) => ({ value })), aborted]);
  } finally {
    signal?.removeEventListener("abort", leave);
  }
}

/** The items of a source, until the signal aborts: also while the next one is on its way. */
export async function* takeUntilAborted<T>(
  source: AsyncGenerator<T, void>,
  signal: AbortSignal | undefined,
): AsyncGenerator<T, void> {
  try {
    while (!signal?.aborted) {
      const next = await untilAborted(source.next(), signal);
      if (!next || next.value.done) return;
      yield next.value.value;
    }
  } finally {
    // Not awaited: a source that is waiting for its next item ends only after it.
    void source.return();
  }
}
