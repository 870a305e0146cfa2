export type { ScannerDeps } from "./deps.ts";
export { type Lag, listLags, recordLag } from "./lags.ts";
export { createHeadPacing, type HeadPacing } from "./head-pacing.ts";
export { pollBalances } from "./native.ts";
export { lookAgain } from "./second-look.ts";
export { createScan, PACE, PACE_OF_SLOTS, type Pace } from "./scan.ts";
export { getTip, HEIGHTS_OF_DEPOSIT, readHeights } from "./store.ts";
export { orderReread, orderSkip } from "./orders.ts";
