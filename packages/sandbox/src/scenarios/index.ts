/** Scenarios: faults on demand, with documented sequences of events. */
export { type PlayOptions, type PlayResult } from "./play.ts";
export { playRemote } from "./remote.ts";
export { type AddressEvent, type ExpectedEvent, type Times } from "./sequence.ts";
export { type Scenario, SCENARIO_NAMES, type ScenarioName, SCENARIOS } from "./table.ts";
