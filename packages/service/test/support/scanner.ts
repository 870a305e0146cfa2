/** A scanner for tests, whose settlements have sponsored fees, no lanes and nothing to wake. */
import { getAddressById } from "../../src/addresses/index.ts";
import type { Random } from "../../src/core/ports.ts";
import { createRouteBook, type Route } from "../../src/routes/index.ts";
import { createScan, PACE, type ScannerDeps } from "../../src/scanner/index.ts";
import type { SettlementDeps } from "../../src/settlements/index.ts";
import { createSponsoredFees, silentLog, unseenMetrics } from "./doubles.ts";

type Given = Pick<ScannerDeps, "db" | "chain" | "tokens" | "startBlock" | "clock">;

interface Choices extends Partial<Omit<ScannerDeps, keyof Given | "settlements">> {
  readonly random: Random;
  readonly routes?: readonly Route[];
  /** Smallest deposit of each token, in base units. */
  readonly tokenMinimum?: bigint;
}

/** Returns the dependencies of a scanner. */
export function createScannerDeps(args: Given & Choices): ScannerDeps {
  const { random, routes = [], tokenMinimum, ...deps } = args;
  const { db, chain, clock, log = silentLog } = deps;
  const settlements: SettlementDeps = {
    db,
    clock,
    random,
    log,
    metrics: unseenMetrics,
    chains: new Map([[chain.chainId, chain]]),
    routes: createRouteBook(routes),
    quotas: { addresses: 1_000, openSettlements: 1_000 },
    fees: createSponsoredFees(10),
    readAddress: (id) => getAddressById(db, id),
    displayAddress: (address) => address,
    lanes: new Map(),
    readMinimums: async () => ({ token: tokenMinimum, floor: undefined }),
    wakeEvents: () => undefined,
    wakeSettlements: () => undefined,
    wakeLanes: () => undefined,
    wakeDeliveries: () => undefined,
    pollMs: 500,
  };
  return {
    traces: false,
    crashPoint: () => undefined,
    log,
    onScanned: () => undefined,
    onCaughtUp: () => undefined,
    ...deps,
    settlements,
  };
}

/** Polls once, as a process that has just started, and checks the tip whenever there is no new block. */
export function scanOnce(deps: ScannerDeps): Promise<boolean> {
  return createScan(deps, { ...PACE, idlePolls: 1, behindMs: -Infinity })();
}
