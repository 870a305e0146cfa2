/** What every role shares: the ports of the real world, the database and the chains. */
import type { FindVault } from "../addresses/index.ts";
import type { AddressFormat, Chains } from "../chains/port/index.ts";
import type { Config } from "../config/index.ts";
import type { Clock, CrashPoint, Http, Random } from "../core/ports.ts";
import type { Db } from "../db/schema.ts";
import type { Wakeups } from "../jobs/wakeups.ts";
import type { Prices } from "../prices/index.ts";
import type { Attestations, RouteBook } from "../routes/index.ts";
import type { Log } from "../telemetry/log.ts";
import type { Watch } from "./health.ts";

export interface RoleContext {
  readonly config: Config;
  readonly db: Db;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly watch: Watch;
  readonly crashPoint: CrashPoint;
  readonly wakeups: Wakeups;
  /** The service's own readers. The attestor makes its own from `attestor.rpcUrls`. */
  readonly chains: Chains;
  readonly http: Http;
  /** Read through `chains` and `http`. The attestor makes its own. */
  readonly prices: Prices;
  readonly routes: RouteBook;
  /** Circle's attestation service; null where no route needs it. One for the process, so that it is asked in turn. */
  readonly attestations: Attestations | null;
  readonly format: AddressFormat;
  /** The vaults of Solana, from who alone can derive them; absent where this process reaches no signer that does. */
  readonly findVault?: FindVault;
}

/** A running role; `stop` ends its loops after the look under way. */
export interface RunningRole {
  stop(): Promise<void>;
}

/** Topics of wake-ups. A lost one costs one poll. */
export const TOPICS = {
  events: "events",
  settlements: "settlements",
  deliveries: "deliveries",
  attestations: "attestations",
  lanes: "lanes",
} as const;
