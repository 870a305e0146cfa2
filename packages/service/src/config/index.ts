/** Loads the configuration, and exports its types. */
export {
  type ChainConfig,
  deliveryConfirmationsOf,
  deliveryOf,
  escrowOf,
  findEvmChain,
  isLocal,
  listEvmChains,
  listLaneKeys,
  listOwnAccounts,
  listSolanaChains,
  startOf,
  transactionSurchargeOf,
} from "./chains.ts";
export type { Config, InventoryShares } from "./config.ts";
export {
  type ConnectionLimits,
  CONNECTIONS,
  countConnections,
  listPools,
  type PoolName,
} from "./connections.ts";
export {
  DELAY_MIN_S,
  DEPLOYMENT_SALT,
  type DeploymentConfig,
  derive,
  type Derived,
  deriveDelivery,
  deriveEscrow,
  deriveFactory,
  deriveTreasury,
  DETERMINISTIC_DEPLOYER,
} from "./deployment.ts";
export {
  type CctpConfig,
  type EarlyPayoutsConfig,
  type EvmChain,
  LANE_PURPOSES,
  type LanePurpose,
  type UniswapV3Config,
} from "./evm-chain.ts";
export { partsOfExposure } from "./exposure.ts";
export type { GasPolicy } from "./file.ts";
export {
  type AwsCredentials,
  type GoogleCredentials,
  type KeyConfig,
  type KeySource,
  SIGNER_NAMES,
  type SignerName,
} from "./keys.ts";
export { findConfigPath } from "./config-path.ts";
export { loadConfig, processEnvironment } from "./load.ts";
export { hostOf, type NodeConfig, type NodesConfig } from "./nodes.ts";
export type { FeedConfig, HttpPriceConfig, PriceConfig } from "./prices.ts";
export { compareConfigs, type Comparison } from "./reload.ts";
export { ConfigError } from "./problems.ts";
export { ROLE_NAMES, type RoleName } from "./readers.ts";
export { findDestinationProblems } from "./route-checks.ts";
export type {
  ChainToken,
  RouteConfig,
  RouteKind,
  RoutePair,
  SwapConfig,
  SwapLimitsConfig,
} from "./route-config.ts";
export type { RouteDefinition } from "./route-definition.ts";
export { findNamedToken, NATIVE_NAME, NO_CHAIN, type RouteNames } from "./route-names.ts";
export {
  RouteBetween,
  RouteSource,
  TokenName,
  TokenNames,
  type WrittenRoute,
} from "./route-schema.ts";
export {
  allowsRefund,
  type AutomaticRefunds,
  type RefundPolicies,
  type RefundPolicy,
  refundPolicyOf,
} from "./refunds.ts";
export { listKeystoreFiles, listSecretFiles, type SecretFile } from "./secret-files.ts";
export { feePayersOf, type MintConfig, SOLANA_DECIMALS, type SolanaChain } from "./solana-chain.ts";
export type { TokenConfig } from "./tokens.ts";
export { Bps, Flag, setting, UnitsText } from "./values.ts";
export { withoutChains } from "./without-chains.ts";
