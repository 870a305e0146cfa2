/** Examinations that take longer than a browser waits: they are started, and their report is read when it is there. */
import type { ConsoleExamination, ConsoleRun } from "@sluice/sdk/wire";
import { OperatingError } from "../core/errors.ts";
import type { Clock } from "../core/ports.ts";
import { formatStamp } from "../core/stamp.ts";
import type { Log } from "../telemetry/log.ts";

/** What an examination found. */
export interface Examined {
  readonly ok: boolean;
  readonly text: string;
}

/** Runs an examination as its command does. */
export type Examinations = Readonly<Record<ConsoleExamination, () => Promise<Examined>>>;

const NEVER: ConsoleRun = {
  state: "never",
  startedBy: null,
  startedAt: null,
  endedAt: null,
  ok: null,
  text: null,
};

/** Creates the desk of the examinations. Each runs once at a time, and its last report is kept. */
export function createExaminations(
  examinations: Examinations,
  { clock, log }: { readonly clock: Clock; readonly log: Log },
) {
  const runs = new Map<ConsoleExamination, ConsoleRun>();
  const read = (name: ConsoleExamination): ConsoleRun => runs.get(name) ?? NEVER;
  return {
    read,

    /** Starts an examination, unless it runs. */
    start(name: ConsoleExamination, startedBy: string): ConsoleRun {
      if (read(name).state === "running") return read(name);
      const started: ConsoleRun = {
        ...NEVER,
        state: "running",
        startedBy,
        startedAt: formatStamp(clock.now()),
      };
      runs.set(name, started);
      const end = (examined: Examined) => {
        runs.set(name, {
          ...started,
          ...examined,
          state: "ended",
          endedAt: formatStamp(clock.now()),
        });
      };
      examinations[name]().then(end, (error: unknown) => {
        if (error instanceof OperatingError) return end({ ok: false, text: error.message });
        log.error({ err: error, examination: name }, "examination failed");
        end({ ok: false, text: "It failed unexpectedly: the log of the process has the error." });
      });
      return started;
    },
  };
}
