/**
 * The parts of the service that differ between kinds of routes, in one object per kind. The registry lists the modules;
 * composition hands them, or functions of them, to the rooms that work for every kind and import none.
 */
import type { QuoteRequest } from "@sluice/sdk/wire";
import type { BuiltContract, ChainInspector } from "../chains/inspector.ts";
import type { DepositAddress } from "../addresses/index.ts";
import type { Chains } from "../chains/port/index.ts";
import type { Config, EvmChain, RouteConfig, RouteDefinition } from "../config/index.ts";
import type { Check, Compared } from "../core/check.ts";
import type { Address } from "../core/hex.ts";
import type { Clock, CrashPoint, Random } from "../core/ports.ts";
import type { Db, Tx } from "../db/schema.ts";
import type { GasStep } from "../fees/index.ts";
import type { RouteAudit } from "../ledger/index.ts";
import type { Prices } from "../prices/index.ts";
import type { AttestorSigner } from "../signers/port.ts";
import type { Log } from "../telemetry/log.ts";
import type { Metrics } from "../telemetry/metrics.ts";
import type { RowGauge } from "../telemetry/row-gauge.ts";
import type { BridgeAttestations } from "./fast-mctp/bridge-attestations.ts";
import type { Route } from "./port.ts";

/** What routes of a process work with. */
export interface RouteDeps {
  readonly config: Pick<Config, "chains">;
  readonly db: Db;
  readonly clock: Clock;
  readonly random: Random;
  readonly chains: Chains;
  readonly prices: Prices;
  /** The client of Circle's attestation service; null where no route needs it. */
  readonly attestations: BridgeAttestations | null;
  /** Tells the attestor that there is something to sign. */
  readonly wakeAttestor: () => void;
}

/** A chain with contracts of routes, as the doctor looks at it. */
export interface RoutePlace {
  readonly config: Pick<Config, "chains">;
  readonly chain: EvmChain;
  readonly inspector: ChainInspector;
  /** Shows an address as people read it. */
  readonly display: (address: Address) => string;
}

/** What checks of the services of others look at. */
export interface ServiceCheckDeps {
  readonly config: Pick<Config, "chains">;
  /** Null where no route needs Circle's attestation service. */
  readonly attestations: Pick<BridgeAttestations, "getFees"> | null;
}

/** A loop of a role that works for routes. */
export interface RouteWorker {
  readonly name: string;
  /** Does what is due. Returns true when there may be more at once. */
  poll(): Promise<boolean>;
}

/** What workers of the settler work with. */
export interface SettlerDeps {
  readonly config: Pick<Config, "chains" | "payoutWindowS">;
  readonly db: Db;
  readonly chains: Chains;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  /** The client of Circle's attestation service; null where no route needs it. */
  readonly attestations: BridgeAttestations | null;
  /** Senders by bridge chain id. */
  readonly lanes: ReadonlyMap<number, Readonly<Record<"settle" | "deliver", readonly Address[]>>>;
  /** Reads the deposit address of a settlement. */
  readonly readAddress: (settlementId: string) => Promise<DepositAddress>;
  /** Called in the transaction that records a delivery, or its trouble: wakes the settlement. */
  readonly onChanged: (tx: Tx, settlementId: string) => Promise<void>;
  /** Called in the transaction that records that the value is back in the wallet, or with its refund authority. */
  readonly onGivenBack: (tx: Tx, settlementId: string) => Promise<void>;
  /** Called once that is committed. */
  readonly wakeSettlements: () => void;
  /** Tells the attestor that there is something to sign. */
  readonly wakeAttestor: () => void;
  /** Tells the lanes that there is something to send. */
  readonly wakeLanes: () => void;
  readonly pollMs: number;
}

/** What workers of the attestor work with, all of it the attestor's own. */
export interface AttestorDeps {
  readonly config: Pick<Config, "chains" | "routes" | "payoutWindowS">;
  readonly db: Db;
  readonly chains: Chains;
  readonly prices: Prices;
  readonly signer: AttestorSigner;
  readonly clock: Clock;
  readonly crashPoint: CrashPoint;
  readonly log: Log;
  readonly metrics: Metrics;
  /** Tells the settler that there is an answer. */
  readonly wakeSettler: () => void;
}

/** Names of the flags of a quote request. */
type QuoteSwitch = {
  [Name in keyof QuoteRequest]-?: QuoteRequest[Name] extends QuoteRequest["fullList"]
    ? Name
    : never;
}[keyof QuoteRequest];

/** One kind of route. Each method is given routes of this kind only. */
export interface RouteModule<Own extends RouteConfig = RouteConfig> {
  readonly kind: Own["kind"];
  /** How it is configured. */
  readonly definition: RouteDefinition;
  /** The flag of a quote request that leaves routes of the kind out. */
  readonly quoteSwitch: QuoteSwitch;
  /** Lists the transactions of a settlement, besides the deployment of its wallet. */
  listGasSteps(route: Own): readonly GasStep[];
  /** Creates a configured route. Throws CONFIG_MISSING where something that it needs is not configured. */
  create(route: Own, deps: RouteDeps): Route;
  /** Lists the contracts of this build that a route's contract may be. */
  listBuilt(route: Own): readonly BuiltContract[];
  /** Compares the terms that a route's contract was made with to the configuration. */
  compareTerms(place: RoutePlace, route: Own): Promise<readonly Compared[]>;
  /** Lists checks of the service of somebody else that a route depends on. */
  checkService?(deps: ServiceCheckDeps, route: Own): readonly Check[];
  /** The audit of what its sweeps do not deliver at once. */
  readonly audit?: RouteAudit;
  /** The gauges of what can stand still. */
  readonly gauges?: readonly RowGauge[];
  /** Lists the loops of the settler that follow what routes of the kind have under way, enabled or not. */
  listSettlerWorkers?(deps: SettlerDeps): readonly RouteWorker[];
  /** Lists the loops of the attestor. */
  listAttestorWorkers?(deps: AttestorDeps): readonly RouteWorker[];
  /** Has the settler's loops look at a settlement now: a transaction of it was mined. */
  wakeOfSettlement?(tx: Tx, settlementId: string, nowMs: number): Promise<void>;
}
