/** Interruptible waiting: ended by a signal, a timeout or a wake-up. No listener is left on the signal. */

/** Maximum of setTimeout: a longer delay would fire immediately. */
const TIMER_MAX_MS = 2 ** 31 - 1;

/** A delay that can be ended early. */
interface Pause {
  /** Ends the current wait, or the next one if none is in progress. */
  wake(): void;
  /** Resolves after `ms`, when woken, or when the signal aborts; never rejects. */
  wait(ms: number): Promise<void>;
}

/** Creates a pause. Once the signal has aborted, every wait ends immediately. */
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

/** A timeout combined with a signal. */
interface Deadline {
  /** Aborts at the timeout with a `TimeoutError`, or together with the parent signal and with its reason. */
  readonly signal: AbortSignal;
  /** Clears the timer and removes the listener from the parent signal. */
  release(): void;
}

/** Creates a deadline that aborts after `ms`, if given, and together with `signal`. */
export function createDeadline(ms: number | undefined, signal: AbortSignal | undefined): Deadline {
  const controller = new AbortController();
  const onAbort = () => controller.abort(signal?.reason);
  let timer: ReturnType<typeof setTimeout> | undefined;
  const deadlineMs = ms === undefined ? Number.POSITIVE_INFINITY : Date.now() + ms;
  const checkTime = () => {
    const leftMs = deadlineMs - Date.now();
    if (leftMs > 0) timer = setTimeout(checkTime, Math.min(leftMs, TIMER_MAX_MS));
    else controller.abort(new DOMException("The operation timed out.", "TimeoutError"));
  };
  if (ms !== undefined) checkTime();
  if (signal?.aborted) onAbort();
  signal?.addEventListener("abort", onAbort);
  return {
    signal: controller.signal,
    release() {
      clearTimeout(timer);
      signal?.removeEventListener("abort", onAbort);
    },
  };
}

/** Returns the work's result; undefined if the signal aborts first, without waiting for the work to end. */
export async function untilAborted<T>(
  work: Promise<T>,
  signal: AbortSignal | undefined,
): Promise<{ readonly value: T } | undefined> {
  let onAbort = (): void => undefined;
  const aborted = new Promise<undefined>((resolve) => {
    onAbort = () => resolve(undefined);
  });
  if (signal?.aborted) onAbort();
  signal?.addEventListener("abort", onAbort);
  try {
    return await Promise.race([work.then((value) => ({ value })), aborted]);
  } finally {
    signal?.removeEventListener("abort", onAbort);
  }
}

/** Yields the items of a source until the signal aborts, even while the next item is pending. */
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
    // Not awaited: a source that is waiting for its next item returns only after that item.
    void source.return();
  }
}
