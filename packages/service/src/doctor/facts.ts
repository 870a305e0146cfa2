/** Inputs of the checks: the configuration, and ports to nodes, database, signers and price sources. */
import type { KnownNonces } from "../transactions/index.ts";
import type { listRouteSets } from "../addresses/index.ts";
import type { ChainInspector, FactoryExpectation, SolanaInspector } from "../chains/inspector.ts";
import type {
  ChainConfig,
  Config,
  GasPolicy,
  LanePurpose,
  NodeConfig,
  RouteConfig,
  SecretFile,
} from "../config/index.ts";
import type { Address, EvmAddress } from "../core/hex.ts";
import type { Clock } from "../core/ports.ts";
import type { DatabaseFacts } from "../db/inspect.ts";
import type { Standing } from "../governance/index.ts";
import type { Breach } from "../ledger/index.ts";
import type { Prices } from "../prices/index.ts";
import type { RouteModule, ServiceCheckDeps } from "../routes/index.ts";
import type { Alerting } from "./going-live.ts";

/** A lane's account, named as the report names it. */
export interface LaneAccount {
  /** The lane's purpose, with an index where several lanes share it: `settle`, `settle[1]`. */
  readonly name: string;
  readonly purpose: LanePurpose;
  readonly address: Address;
}

/** The nodes of one chain. */
export interface ChainNodes<Inspector = ChainInspector> {
  /** The service's first node; contracts, tokens and lanes are read through it. */
  readonly service: Inspector;
  readonly attestor: Inspector;
  /** The further nodes of the quorum, in the order of the configuration. */
  readonly furtherOfService: readonly Inspector[];
  readonly furtherOfAttestor: readonly Inspector[];
  /** True if the attestor reads through a node that the service uses too. */
  readonly areTheSame: boolean;
}

/** Accounts derived from the seed of Solana, by their names in the configuration. */
export type SeedAccounts = Readonly<
  Record<"binding" | "escrow" | "delivery" | "settle" | "deliver", Address>
>;

/** A signer, or a key in this process, that derives vaults on Solana. */
export interface VaultSource {
  /** The setting that configures it. */
  readonly setting: string;
  /**
   * Asks for an unused test vault and verifies its binding. Returns `none` if the source derives no vaults, and `false` if
   * the binding does not verify. Throws RPC_UNAVAILABLE if the source does not answer.
   */
  vouches(): Promise<boolean | "none">;
}

/** An attempt to subscribe to new blocks. The reason is one of ours. */
export type PushTrial =
  | { readonly kind: "subscribed"; readonly durationMs: number }
  | { readonly kind: "failed"; readonly reason: string };

/** An attempt to receive a block from a stream. */
export type StreamTrial =
  | { readonly kind: "received"; readonly durationMs: number }
  | { readonly kind: "failed"; readonly reason: string };

export interface DoctorDeps {
  readonly config: Config;
  readonly clock: Clock;
  readonly secretFiles: readonly SecretFile[];
  readonly factory: FactoryExpectation;
  /** Returns the module of a route's kind. */
  readonly moduleOf: (route: RouteConfig) => RouteModule;
  /** Formats an address for people, in its chain's own form. */
  readonly display: (address: Address) => string;
  readonly attestor: EvmAddress;
  readonly lanesOf: (chainId: number) => readonly LaneAccount[];
  readonly nodesOf: (chainId: number) => ChainNodes;
  readonly solanaNodesOf: (chainId: number) => ChainNodes<SolanaInspector>;
  readonly tryPush: (chain: ChainConfig, wsUrl: string) => Promise<PushTrial>;
  readonly tryStream: (
    chain: ChainConfig,
    server: { readonly url: string; readonly token: string | undefined },
  ) => Promise<StreamTrial>;
  /**
   * Returns the accounts that can be read: a signer's socket shows `binding` and the two fee payers, a locked keystore only
   * `binding`. Throws `OperatingError` when the seed cannot be read.
   */
  readonly readSeedAccounts: () => Promise<Partial<SeedAccounts>>;
  readonly vaultSources: readonly VaultSource[];
  /** Returns the newest scanned block; null before the first. Throws `OperatingError` CONFIG_MISSING as `readDatabase`. */
  readonly getScanned: (chainId: number) => Promise<bigint | null>;
  readonly prices: Pick<Prices, "readReport" | "readUsd">;
  /** Null if no route uses Circle's service. */
  readonly attestations: ServiceCheckDeps["attestations"];
  /** Throws `OperatingError` CONFIG_MISSING when the database cannot be used. */
  readonly readDatabase: () => Promise<DatabaseFacts>;
  /** Returns what the database knows of a lane; null for a lane that it never used. Throws as `readDatabase`. */
  readonly getKnownNonces: (lane: {
    readonly chainId: number;
    readonly address: Address;
  }) => Promise<KnownNonces | null>;
  /** Returns the open breaches of the ledger. Throws `OperatingError` CONFIG_MISSING as `readDatabase`. */
  readonly listBreaches: () => Promise<
    readonly Pick<Breach, "id" | "chainId" | "holding" | "verdict">[]
  >;
  /** Returns the claims that are not made hours after their locks, each with the stage that it reached. */
  readonly listOverdueClaims: () => Promise<
    readonly { readonly kind: string; readonly srcChain: number }[]
  >;
  /**
   * Returns the changes of the contracts that nobody expects; null if the auditor has watched none of the chains yet. Throws
   * `OperatingError` CONFIG_MISSING as `readDatabase`.
   */
  readonly listUnexpectedChanges: () => Promise<
    readonly Pick<Standing, "id" | "chainId" | "role" | "state">[] | null
  >;
  /** Returns when the newest backup began, and when the server archived its newest WAL. Throws as `readDatabase`. */
  readonly getNewestBackup: () => Promise<{
    readonly backup: string | null;
    readonly archived: string | null;
  }>;
  /** Reads for the checks before the first money; null without `--go-live`. */
  readonly live: {
    /** Returns what Prometheus does with alerts; null if none was named. Throws `OperatingError` if it does not answer. */
    readonly readAlerting: () => Promise<Alerting | null>;
  } | null;
  readonly listRefundAuthorities: () => Promise<readonly EvmAddress[]>;
  /** Returns the distinct sets of routes of issued addresses. Throws `OperatingError` CONFIG_MISSING as `readDatabase`. */
  readonly listRouteSets: () => Promise<readonly IssuedRouteSet[]>;
  /** Throws `OperatingError` CONFIG_MISSING when the database cannot be used. */
  readonly listIntegrators: () => Promise<readonly IntegratorTerms[]>;
}

/** A set of routes and the number of addresses that commit to it. */
export type IssuedRouteSet = Awaited<ReturnType<typeof listRouteSets>>[number];

/** An integrator's own terms. */
export interface IntegratorTerms {
  readonly name: string;
  /** Null where the configuration's value applies. */
  readonly gas: GasPolicy | null;
  readonly maxFeeBps: number;
}

export function subjectOf({ chainId, name }: Pick<ChainConfig, "chainId" | "name">): string {
  return `chain ${chainId} (${name})`;
}

/** A node and the names of its checks. */
export interface NodeOf<Inspector> {
  readonly inspector: Inspector;
  readonly subject: string;
  /** Position in the configured list, where it has several nodes. */
  readonly item?: string;
  /** The node's settings. */
  readonly node: NodeConfig;
  /** True for a node of the service, false for one of the attestor. */
  readonly isOurs: boolean;
}

/** Returns the names of a check of a node. */
export function nameOf({ subject, item }: Pick<NodeOf<unknown>, "subject" | "item">) {
  return item === undefined ? { subject } : { subject, item };
}
