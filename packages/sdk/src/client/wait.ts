/** Waiting that ends early: by a signal, or by being woken. */

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
  const wake = () => {
    woken = true;
    end?.();
  };
  signal?.addEventListener("abort", wake, { once: true });
  return {
    wake,
    async wait(ms) {
      if (!woken && !signal?.aborted) {
        await new Promise<void>((resolve) => {
          const timer = setTimeout(resolve, ms);
          end = () => {
            clearTimeout(timer);
            resolve();
          };
        });
      }
      end = undefined;
      woken = false;
    },
  };
}
