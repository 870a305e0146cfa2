/** The ports as the real world has them: the only place that reads the clock and draws randomness. */
import { randomUUID } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import type { Clock, CrashPoint, Random } from "../core/ports.ts";

export const systemClock: Clock = {
  now: () => Date.now(),
  async sleep(ms, signal) {
    try {
      await delay(ms, undefined, signal ? { signal } : {});
    } catch (error) {
      // An aborted sleep is a sleep that ended early; anything else is a bug.
      if (!signal?.aborted) throw error;
    }
  },
};

export const systemRandom: Random = { uuid: () => randomUUID() };

/**
 * The crash points of a process. Nothing happens at them, unless a test named one: then the process kills itself there
 * with SIGKILL, as a power cut would.
 */
export function createCrashPoint(crashAt: string | undefined): CrashPoint {
  if (crashAt === undefined) return () => {};
  return (name) => {
    if (name === crashAt) process.kill(process.pid, "SIGKILL");
  };
}
