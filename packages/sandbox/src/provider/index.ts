/** A provider to test against: a node with a provider's latency, limits, words and faults; and a chain of any size and pace. */
export {
  type Limits,
  PROFILE_NAMES,
  type Profile,
  type ProfileName,
  profileOf,
  REFUSALS,
  refusalOf,
} from "./profiles.ts";
export { type Provider, startProvider } from "./provider.ts";
export {
  REFUSAL_KINDS,
  type Refusal,
  type RefusalKind,
  renderError,
  renderMessage,
} from "./refusal.ts";
export type { ProviderOptions, ProviderOverrides, ProviderSettings } from "./settings.ts";
export { type RemoteProvider, spawnProvider } from "./spawn.ts";
export type { ProviderStats } from "./stats.ts";
export {
  startSyntheticChain,
  type SyntheticChain,
  type SyntheticChainOptions,
} from "./synthetic/chain.ts";
export { NATIVE, type SyntheticDeposit } from "./synthetic/deposits.ts";
export type { SyntheticReorg } from "./synthetic/history.ts";
export { type RemoteSyntheticChain, spawnSyntheticChain } from "./synthetic/spawn.ts";
