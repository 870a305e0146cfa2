import type { Chain } from "../chains/port/index.ts";
import type { Address } from "../core/hex.ts";
import type { Clock, CrashPoint } from "../core/ports.ts";
import type { Db } from "../db/schema.ts";
import type { IntakeDeps } from "../settlements/index.ts";
import type { Log } from "../telemetry/log.ts";

/** Dependencies of the scanner of one chain. */
export interface ScannerDeps {
  readonly db: Db;
  readonly chain: Chain;
  /** Listed tokens of the chain. */
  readonly tokens: readonly Address[];
  /** Whether the configuration allows trace requests to the node. */
  readonly traces: boolean;
  /** First block to scan on an empty database. */
  readonly startBlock: bigint;
  readonly settlements: IntakeDeps;
  readonly clock: Clock;
  readonly crashPoint: CrashPoint;
  readonly log: Log;
  /** Called after the cursor moved up, with the number of heights and the newest one. */
  readonly onScanned: (heights: number, newest: bigint) => void;
  /** Called after a read that left no known block to scan. */
  readonly onCaughtUp: () => void;
}
