/**
 * One object per kind of route, holding everything that differs between kinds. The registry lists the modules; composition
 * passes them, or their functions, to code that works for every kind and imports none.
 */
import type { QuoteRequest } from "@sluice/sdk/wire";
import type { BuiltContract, ChainInspector } from "../chains/inspector.ts";
import type { DepositAddress } from "../addresses/index.ts";
import type { Chains } from "../chains/port/index.ts";
import type { Config, EvmChain, RouteConfig, RouteDefinition } from "../config/index.ts";
import type { Check, Compared } from "../core/check.ts";
import type { Address, Hex32, TxHash } from "../core/hex.ts";
import type { Clock, CrashPoint, Random } from "../core/ports.ts";
import type { Db, Tx } from "../db/schema.ts";
import type { Queue } from "../jobs/due.ts";
import type { GasStep } from "../fees/index.ts";
import type { RouteAudit } from "../ledger/index.ts";
import type { Prices } from "../prices/index.ts";
import type { AttestorSet, AttestorSigner } from "../signers/port.ts";
import type { Log } from "../telemetry/log.ts";
import type { Metrics } from "../telemetry/metrics.ts";
import type { RowGauge } from "../telemetry/row-gauge.ts";
import type { BridgeAttestations } from "./fast-mctp/bridge-attestations.ts";
import type { Route } from "./port.ts";

/** Dependencies of the routes in a process. */
export interface RouteDeps {
  readonly config: Pick<Config, "chains" | "rateToleranceBps" | "inventoryShares">;
  readonly db: Db;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly chains: Chains;
  readonly prices: Prices;
  /** Client of Circle's attestation service; null if no route needs it. */
  readonly attestations: BridgeAttestations | null;
  readonly attestors: AttestorSet;
  /** Tells the attestor that a request is waiting. */
  readonly wakeAttestor: () => void;
}

/** A chain with route contracts, as the doctor inspects it. */
export interface RoutePlace {
  readonly config: Pick<Config, "chains">;
  readonly chain: EvmChain;
  readonly inspector: ChainInspector;
  /** Formats an address for people. */
  readonly display: (address: Address) => string;
}

/** Dependencies of the checks of third-party services. */
export interface ServiceCheckDeps {
  readonly config: Pick<Config, "chains">;
  /** Null if no route needs Circle's attestation service. */
  readonly attestations: Pick<BridgeAttestations, "getFees"> | null;
}

/** A loop of a role that works for routes. */
export interface RouteWorker {
  readonly name: string;
  /** The queue of its rows, by which the settler wakes it. */
  readonly queue?: Queue;
  /** The kinds of requests by which an attestor wakes it. */
  readonly kinds?: readonly string[];
  /** Processes the due rows. Returns true if there may be more at once. */
  poll(): Promise<boolean>;
}

/** A delivery that the service's own reader saw. */
export interface Delivered {
  readonly settlementId: string;
  /** Names the lock that it pays; null where no lock is paid. */
  readonly deliveryId: Hex32 | null;
  readonly txHash: TxHash;
  /** In base units of the destination token. */
  readonly amount: bigint;
}

/** Dependencies of the settler's workers. */
export interface SettlerDeps {
  readonly config: Pick<Config, "chains" | "payoutWindowS">;
  readonly db: Db;
  readonly chains: Chains;
  /** Readers for claims and returns, whose requests may use the reserve of a node's daily budget. */
  readonly endingChains: Chains;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  /** Client of Circle's attestation service; null if no route needs it. */
  readonly attestations: BridgeAttestations | null;
  readonly attestors: AttestorSet;
  /** Value payouts that are made before finality. */
  readonly prices: Pick<Prices, "readUsd">;
  /** Returns whether this process works on a chain. Workers with a queue run only where it does. */
  readonly worksOn: (chainId: number) => boolean;
  /** Senders by bridge chain id, of all chains. */
  readonly lanes: ReadonlyMap<
    number,
    Readonly<Record<"settle" | "deliver" | "claim", readonly Address[]>>
  >;
  /** Reads the deposit address of a settlement. */
  readonly readAddress: (settlementId: string) => Promise<DepositAddress>;
  /** Wakes the settlement, in the transaction that records an error. */
  readonly onChanged: (tx: Tx, settlementId: string) => Promise<void>;
  /** Wakes the settlement, or corrects its completed record, in the transaction that records a delivery. */
  readonly onDelivered: (tx: Tx, delivered: Delivered) => Promise<void>;
  /** Wakes the settlement, in the transaction that records that the value is back in the wallet or with its refund authority. */
  readonly onGivenBack: (tx: Tx, settlementId: string) => Promise<void>;
  /** Wakes the settlements of a source chain, after that transaction commits. */
  readonly wakeSettlements: (chainId: number) => void;
  /** Tells the attestor that a request is waiting. */
  readonly wakeAttestor: (kind: string) => void;
  /** Tells a lane that a transaction is queued. */
  readonly wakeLanes: (chainId: number, lane: Address) => void;
  readonly pollMs: number;
}

/** Dependencies of the attestor's workers. Readers and prices are the attestor's own. */
export interface AttestorDeps {
  readonly config: Pick<
    Config,
    "chains" | "routes" | "payoutWindowS" | "rateToleranceBps" | "attestors" | "refunds"
  >;
  readonly db: Db;
  readonly chains: Chains;
  /** Readers for claims and returns, as those of the settler. */
  readonly endingChains: Chains;
  readonly prices: Prices;
  /** Returns whether a balance is below the token's minimum; false while that cannot be known. */
  readonly isBelowMinimum: (chainId: number, token: Address, balance: bigint) => Promise<boolean>;
  readonly signer: AttestorSigner;
  readonly clock: Clock;
  readonly crashPoint: CrashPoint;
  readonly log: Log;
  readonly metrics: Metrics;
  /** Tells the settler that a request of a delivery, or of something else that is attested, was answered. */
  readonly wakeSettler: (subject: Hex32) => void;
}

/** Names of the flags of a quote request. */
type QuoteSwitch = {
  [Name in keyof QuoteRequest]-?: QuoteRequest[Name] extends QuoteRequest["fullList"]
    ? Name
    : never;
}[keyof QuoteRequest];

/** One kind of route. Each method receives routes of this kind only. */
export interface RouteModule<Own extends RouteConfig = RouteConfig> {
  readonly kind: Own["kind"];
  /** How the kind is configured. */
  readonly definition: RouteDefinition;
  /** The flag of a quote request that excludes routes of this kind. */
  readonly quoteSwitch: QuoteSwitch;
  /** Lists the transactions of a settlement, besides the deployment of its wallet. */
  listGasSteps(route: Own): readonly GasStep[];
  /** Creates a configured route. Throws CONFIG_MISSING if an object that it needs is not configured. */
  create(route: Own, deps: RouteDeps): Route;
  /** Lists the contracts of this build whose code a route's contract may have. */
  listBuilt(route: Own): readonly BuiltContract[];
  /** Compares the constructor terms of a route's contract with the configuration. */
  compareTerms(place: RoutePlace, route: Own): Promise<readonly Compared[]>;
  /** Lists checks of third-party services that a route depends on. */
  checkService?(deps: ServiceCheckDeps, route: Own): readonly Check[];
  /** Audits value that a sweep has not delivered yet. */
  readonly audit?: RouteAudit;
  /** Gauges of work that can stall. */
  readonly gauges?: readonly RowGauge[];
  /** Lists the settler's loops that follow open work of this kind. They run even if no route of the kind is enabled. */
  listSettlerWorkers?(deps: SettlerDeps): readonly RouteWorker[];
  /** Lists the attestor's loops. */
  listAttestorWorkers?(deps: AttestorDeps): readonly RouteWorker[];
  /** Queue of the destination in which the delivery of a sweep waits; absent where the sweep delivers. */
  readonly queue?: string;
  /**
   * Makes the settler's open work of settlements due now, because transactions of theirs were mined. Returns the queues of what
   * it made due.
   */
  wakeOfSettlements?(
    tx: Tx,
    settlementIds: readonly string[],
    nowMs: number,
  ): Promise<readonly Queue[]>;
  /** The same for an attested subject, because an attestor answered. */
  wakeOfAnswer?(
    db: Db,
    answer: { readonly id: Hex32; readonly nowMs: number },
  ): Promise<readonly Queue[]>;
}
