export { readChain, type ReadingsOfChain } from "./readings.ts";
export { type ChainHealth, type Readiness, type RoleHealth } from "./report.ts";
export { createRows, type Row, type Rows } from "./rows.ts";
export { startHealthServer, type HealthServer } from "./server.ts";
export { createVitals, type Vitals } from "./vitals.ts";
export { type ChainLeft, hasOpenWork, readChainLeft } from "./chain-left.ts";
