/** The parts that compose roles. Each role declares the parts that it uses, and receives no others. */
import type { FindVault } from "../addresses/index.ts";
import type { AddressFormat, Chains } from "../chains/port/index.ts";
import type { Config } from "../config/index.ts";
import type { Address } from "../core/hex.ts";
import type { Clock, CrashPoint, Http, NodeMeter, Random } from "../core/ports.ts";
import type { Db } from "../db/schema.ts";
import { type Queue, subjectOf } from "../jobs/due.ts";
import type { Wakeups } from "../jobs/wakeups.ts";
import type { Prices } from "../prices/index.ts";
import type { BridgeAttestations, RouteBook } from "../routes/index.ts";
import type { AttestorSet } from "../signers/port.ts";
import type { Pace } from "../scanner/index.ts";
import type { Log } from "../telemetry/log.ts";
import type { Health } from "./health.ts";
import type { TrafficOf } from "./node-traffic.ts";

/** Every part of a process. */
export interface RoleContext {
  readonly config: Config;
  /** The database over the connections of the role. */
  readonly db: Db;
  /** The same over those of the stream; only in a process with the role `api`. */
  readonly streamDb: Db;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly health: Health;
  readonly crashPoint: CrashPoint;
  /** Returns whether scanner and settler of this process work on a chain. */
  readonly worksOn: (chainId: number) => boolean;
  /** The limits of the scanner's reads. */
  readonly pace: Pace;
  readonly wakeups: Wakeups;
  /** The service's readers, which remember some reads for the quoter. The attestor creates its own from `attestor.rpcUrls`. */
  readonly chains: Chains;
  /** The same readers, whose requests may use the reserve of a node's daily budget. */
  readonly endingChains: Chains;
  /** Limits of the nodes, shared by all readers of the process. */
  readonly trafficOf: TrafficOf;
  /** Counts the requests that a caller's work sends to nodes. */
  readonly nodeMeter: NodeMeter;
  readonly http: Http;
  /** Prices read through `chains` and `http`. The attestor creates its own. */
  readonly prices: Prices;
  readonly routes: RouteBook;
  /** Circle's attestation service; null if no route needs it. One client per process, so that requests are sent in turn. */
  readonly attestations: BridgeAttestations | null;
  /** The attestors whose signatures the settler counts. */
  readonly attestors: AttestorSet;
  readonly format: AddressFormat;
  /** Derives vaults on Solana; absent if this process reaches no signer that can. */
  readonly findVault?: FindVault | undefined;
}

/** The named parts of a process, for one role. */
export type Parts<Name extends keyof RoleContext> = Pick<RoleContext, Name>;

/** Returns the named parts. A part that is created on first use is created only if it is named. */
export function takeParts<Name extends keyof RoleContext>(
  context: RoleContext,
  names: readonly Name[],
): Parts<Name> {
  const parts = names.map((name) => [name, context[name]] as const);
  // CAST: one entry per name.
  return Object.fromEntries(parts) as Parts<Name>;
}

/** A running role; `stop` ends its loops after the current poll. */
export interface RunningRole {
  stop(): Promise<void>;
}

/** Wakes the loops of queues whose rows became due. */
export function wakeDue(wakeups: Wakeups, queues: readonly Queue[]): void {
  for (const queue of queues) wakeups.wake(TOPICS.due, subjectOf(queue));
}

/** Wakes a lane, or all lanes of a chain. */
export function wakeLanes(wakeups: Wakeups, chainId: number, lane?: Address): void {
  wakeups.wake(TOPICS.lanes, lane === undefined ? `${chainId}` : `${chainId}:${lane}`);
}

/** Topics of wake-ups. A lost wake-up delays work until the next poll. */
export const TOPICS = {
  /** A committed event; the message names the integrator. */
  events: "events",
  /** Rows became due; the message names their queue. */
  due: "due",
  /** An attestor answered; the message names the subject. */
  answers: "answers",
  /** A request for the attestors was inserted; the message names its kind. */
  attestations: "attestations",
  /** A webhook was requested: a test, or events again. */
  webhooks: "webhooks",
  /** An intent was submitted; the message names its chain, and its lane where that is known. */
  lanes: "lanes",
} as const;
