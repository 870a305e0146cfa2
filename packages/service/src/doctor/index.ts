/** Checks an installation and names remedies: configuration, database, nodes, contracts, tokens, gas. */
export { refuseConfiguration } from "./configuration.ts";
export { examine } from "./examine.ts";
export {
  type ChainNodes,
  type DoctorDeps,
  type LaneAccount,
  type PushTrial,
  type StreamTrial,
  type SeedAccounts,
  type VaultSource,
} from "./facts.ts";
export { formatReport, type Report, toReport } from "./report.ts";
