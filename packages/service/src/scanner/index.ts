export type { ScannerDeps } from "./deps.ts";
export { lookAtBalances } from "./native.ts";
export { lookAtChain } from "./scan.ts";
export { getTip, TIP_OF_DEPOSIT } from "./store.ts";
