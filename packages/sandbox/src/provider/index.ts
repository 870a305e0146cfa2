/** A provider to test against: a node with a provider's latency, limits, words and faults. */
export {
  type Limits,
  PROFILE_NAMES,
  type Profile,
  type ProfileName,
  profileOf,
  REFUSALS,
  refusalOf,
} from "./profiles.ts";
export { type Provider, type ProviderOptions, startProvider } from "./provider.ts";
export {
  REFUSAL_KINDS,
  type Refusal,
  type RefusalKind,
  renderError,
  renderMessage,
} from "./refusal.ts";
export type { ProviderOverrides, ProviderSettings } from "./settings.ts";
export type { ProviderStats } from "./stats.ts";
