export { lookAtChain, type ScannerDeps } from "./scan.ts";
