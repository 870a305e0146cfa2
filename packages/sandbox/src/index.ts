/** A local Sluice in one call: chains, contracts, test tokens and the service. */
export { locateAnvil } from "./anvil.ts";
export type {
  BridgeAttestationControls,
  BridgeAttestationService,
  AttestedMessage,
} from "./bridge-attestation-service.ts";
export {
  CHAIN_SPECS,
  type ChainName,
  type ChainSpec,
  FINALITY_BLOCKS,
  USDC,
} from "./chain-specs.ts";
export {
  type ChainsOptions,
  type SandboxChain,
  type SandboxChains,
  startChains,
} from "./chains.ts";
export { removeSandbox } from "./clear-state.ts";
export { deployContracts, type DeployOptions } from "./contracts.ts";
export { type DemoOptions, type DemoResult, runDemo } from "./demo.ts";
export { type ChainDeployment, type Deployment } from "./deployment.ts";
export {
  type DescribedChain,
  type DescribedEvmChain,
  type DescribedSolanaChain,
  type Descriptor,
  writeDescriptor,
} from "./descriptor.ts";
export { SandboxError } from "./errors.ts";
export { createEvmClient, type EvmClient } from "./evm-client.ts";
export {
  createIntegrator,
  ensureIntegrators,
  type IntegratorKey,
  type IntegratorRequest,
} from "./integrators.ts";
export type { PayRequest } from "./pay/command-line.ts";
export { type PaymentOptions, type PaymentResult, runPayment } from "./pay/payment.ts";
export type { SolanaControls } from "./solana/controls.ts";
export { openSolanaNode, type SolanaNode, type SolanaNodeOptions } from "./solana/node.ts";
export { fundSolanaPayers, loadSolanaPayers, type SolanaPayer } from "./solana/payers.ts";
export { type Key, type LaneKeys, loadKey, loadKeys, type SandboxKeys } from "./keys.ts";
export { type MiningOptions, reorganise } from "./mining.ts";
export { findFreePort } from "./ports.ts";
export {
  startBridgeAttestations,
  type Sandbox,
  type SandboxOptions,
  startSandbox,
} from "./sandbox.ts";
export {
  type PreparedService,
  prepareService,
  type RunningService,
  type ServiceExit,
  type ServiceOptions,
  runServiceCommand,
  startService,
} from "./service.ts";
export { SANDBOX_TERMS, type ServiceConfigOptions, writeServiceConfig } from "./service-config.ts";
export { balanceOf, mintToken, pay, type Payment, sendToken } from "./tokens.ts";
export * from "./scenarios/index.ts";
