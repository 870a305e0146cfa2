/** Reads the configuration of a running process again, one request at a time. A refused one changes nothing. */
import type { Comparison, Config } from "../config/index.ts";
import type { Log } from "../telemetry/log.ts";
import type { Health } from "./health.ts";

export interface Reload {
  /**
   * Reads the configuration with `read`, and goes on with it unless it is refused. `operator` is on record for what changed.
   * Never throws: the log says the outcome.
   */
  ask(read: () => Config, operator: string): Promise<void>;
  /** Waits for the request under way, and ignores those after it. */
  end(): Promise<void>;
}

export function createReload({
  log,
  health,
  compare,
  goOn,
  record,
}: {
  readonly log: Log;
  readonly health: Pick<Health, "metrics">;
  /** Compares a configuration with the one that the process runs with. */
  readonly compare: (next: Config) => Promise<Comparison>;
  /** Replaces what depends on the configuration; restores it before it throws. */
  readonly goOn: (next: Config) => Promise<void>;
  /** Puts the names of the changed settings on record. */
  readonly record: (changed: readonly string[], operator: string) => Promise<void>;
}): Reload {
  let turn = Promise.resolve();
  let isEnding = false;
  const count = (outcome: "applied" | "refused") => health.metrics.configReloads.inc({ outcome });
  const refuse = (facts: object, message: string) => {
    count("refused");
    log.error(facts, `configuration refused, ${message}`);
  };

  async function reload(read: () => Config, operator: string): Promise<void> {
    let next: Config;
    let compared: Comparison;
    try {
      next = read();
      compared = await compare(next);
    } catch (error) {
      return refuse({ err: error }, "nothing is changed");
    }
    const { changed, refused } = compared;
    if (refused.length > 0) {
      return refuse({ refused }, "nothing is changed: restart for these settings");
    }
    try {
      await goOn(next);
    } catch (error) {
      return refuse({ err: error, changed }, "going on with the one before");
    }
    count("applied");
    log.info({ changed }, "configuration read again");
    if (changed.length === 0) return;
    try {
      await record(changed, operator);
    } catch (error) {
      log.error({ err: error, changed }, "change of the configuration not on record");
    }
  }

  return {
    ask(read, operator) {
      turn = turn.then(() => (isEnding ? undefined : reload(read, operator)));
      return turn;
    },
    async end() {
      isEnding = true;
      await turn;
    },
  };
}
