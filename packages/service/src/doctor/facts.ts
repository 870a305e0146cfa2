/** What the checks look at: the configuration, and ports to everything outside of it. */
import type { ChainInspector, FactoryExpectation, SolanaInspector } from "../chains/inspector.ts";
import type {
  ChainConfig,
  Config,
  GasPolicy,
  LanePurpose,
  RouteConfig,
  SecretFile,
} from "../config/index.ts";
import type { Address, EvmAddress } from "../core/hex.ts";
import type { Clock } from "../core/ports.ts";
import type { DatabaseFacts } from "../db/inspect.ts";
import type { Prices } from "../prices/index.ts";
import type { RouteModule, ServiceCheckDeps } from "../routes/index.ts";

/** The account of a lane. */
export interface LaneAccount {
  /** Its purpose, and a number where several share it: `settle`, `settle[1]`. */
  readonly name: string;
  readonly purpose: LanePurpose;
  readonly address: Address;
}

/** The nodes of one chain. */
export interface ChainNodes<Inspector = ChainInspector> {
  /** The first of the service's, through which contracts, tokens and lanes are looked at. */
  readonly service: Inspector;
  readonly attestor: Inspector;
  /** The others of a quorum, in the order of the configuration. */
  readonly furtherOfService: readonly Inspector[];
  readonly furtherOfAttestor: readonly Inspector[];
  /** Whether the attestor reads through a node of the service. */
  readonly areTheSame: boolean;
}

/** Accounts that follow from the seed of Solana, by their names in the configuration. */
export type SeedAccounts = Readonly<
  Record<"binding" | "escrow" | "delivery" | "settle" | "deliver", Address>
>;

/** Who derives vaults on Solana. */
export interface VaultSource {
  /** The setting that names it. */
  readonly setting: string;
  /**
   * Has a vault derived that nobody uses. `none` where it derives none, and `false` where its word for the vault does not
   * verify. Throws RPC_UNAVAILABLE when nobody answers.
   */
  vouches(): Promise<boolean | "none">;
}

export interface DoctorDeps {
  readonly config: Config;
  readonly clock: Clock;
  readonly secretFiles: readonly SecretFile[];
  readonly factory: FactoryExpectation;
  /** Returns the module of a route's kind. */
  readonly moduleOf: (route: RouteConfig) => RouteModule;
  /** How people read addresses. */
  readonly display: (address: Address) => string;
  readonly attestor: EvmAddress;
  readonly lanesOf: (chainId: number) => readonly LaneAccount[];
  readonly nodesOf: (chainId: number) => ChainNodes;
  readonly solanaNodesOf: (chainId: number) => ChainNodes<SolanaInspector>;
  /**
   * Those that can be told: a signer's socket shows `binding` and the two that pay fees, a locked keystore `binding` alone.
   * Throws `OperatingError` when the seed cannot be read.
   */
  readonly readSeedAccounts: () => Promise<Partial<SeedAccounts>>;
  readonly vaultSources: readonly VaultSource[];
  /** The newest scanned block; null before the first. Throws `OperatingError` CONFIG_MISSING as `readDatabase`. */
  readonly getScanned: (chainId: number) => Promise<bigint | null>;
  readonly prices: Pick<Prices, "readReport" | "readUsd">;
  /** Null where no route needs the bridge's service. */
  readonly attestations: ServiceCheckDeps["attestations"];
  /** Throws `OperatingError` CONFIG_MISSING when the database cannot be used. */
  readonly readDatabase: () => Promise<DatabaseFacts>;
  readonly listRefundAuthorities: () => Promise<readonly EvmAddress[]>;
  /** Throws `OperatingError` CONFIG_MISSING when the database cannot be used. */
  readonly listIntegrators: () => Promise<readonly IntegratorTerms[]>;
}

/** What an integrator has of its own. */
export interface IntegratorTerms {
  readonly name: string;
  /** Null where the configuration decides. */
  readonly gas: GasPolicy | null;
  readonly maxFeeBps: number;
}

export function subjectOf({ chainId, name }: Pick<ChainConfig, "chainId" | "name">): string {
  return `chain ${chainId} (${name})`;
}
