import type { Chain } from "../chains/port/index.ts";
import type { Address } from "../core/hex.ts";
import type { Clock, CrashPoint } from "../core/ports.ts";
import type { Db } from "../db/schema.ts";
import type { IntakeDeps } from "../settlements/index.ts";
import type { Log } from "../telemetry/log.ts";

/** What the scanner of one chain works with. */
export interface ScannerDeps {
  readonly db: Db;
  readonly chain: Chain;
  /** The listed tokens. */
  readonly tokens: readonly Address[];
  /** Whether the node may be asked for traces. */
  readonly traces: boolean;
  readonly startBlock: bigint;
  readonly settlements: IntakeDeps;
  readonly clock: Clock;
  readonly crashPoint: CrashPoint;
  readonly log: Log;
  /** Told whenever the cursor has moved onto a block. */
  readonly onScanned: () => void;
}
