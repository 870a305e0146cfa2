/**
 * The polling loop of every role.
 *
 * Work is stored in rows (`next_check_at`, an open request, an unscanned block), never in a queue in memory, so a restart
 * resumes from the rows and a lost wake-up costs one interval. `wake` only starts the next poll; it authorizes nothing.
 */
import { AWAKE, type Clock } from "../core/ports.ts";
import type { Log } from "../telemetry/log.ts";

/** Least time from the start of a poll to the next one that a wake-up starts, in milliseconds, unless the loop has its own. */
const WAKE_GAP_MS = 25;

/** One pass of a loop, once it is over. */
export interface Poll {
  readonly failed: boolean;
  readonly durationMs: number;
}

export interface Loop {
  /** Polls at once instead of after the interval; soon after the poll that runs or was just over. */
  wake(): void;
  /** Ends the loop after the poll under way. */
  stop(): Promise<void>;
}

/**
 * Starts a loop. `poll` returns true when there may be more work at once. A poll that throws is logged and repeated
 * after the interval: the work stays in its rows.
 */
export function startLoop(options: {
  readonly name: string;
  readonly intervalMs: number;
  readonly wakeGapMs?: number | undefined;
  /** Returns the pause before the next poll, where it is not always the interval. */
  readonly pauseMs?: (() => number) | undefined;
  readonly clock: Clock;
  readonly log: Log;
  readonly poll: () => Promise<boolean>;
  /** Called after every poll. */
  readonly onPoll: (poll: Poll) => void;
}): Loop {
  const { name, intervalMs, wakeGapMs = WAKE_GAP_MS, clock, log, poll, onPoll } = options;
  const { pauseMs = () => intervalMs } = options;
  let stopped = false;
  let woken = false;
  let pause = new AbortController();

  async function run(): Promise<void> {
    while (!stopped) {
      woken = false;
      let more = false;
      let failed = false;
      const startedMs = clock.now();
      try {
        more = await poll();
      } catch (error) {
        failed = true;
        log.error({ err: error, loop: name }, "poll failed, retrying");
      }
      onPoll({ failed, durationMs: clock.now() - startedMs });
      if (stopped || more) continue;
      pause = new AbortController();
      if (woken) {
        // Many wake-ups in a row share a poll.
        const leftMs = startedMs + wakeGapMs - clock.now();
        if (leftMs > 0) await clock.sleep(leftMs);
      } else await clock.sleep(pauseMs(), pause.signal);
    }
  }

  const running = run();
  return {
    wake() {
      woken = true;
      pause.abort(AWAKE);
    },
    async stop() {
      stopped = true;
      pause.abort(AWAKE);
      await running;
    },
  };
}
