/** The operators' console, on a listener of its own in the process of the API. */
import { listen, readPageFiles } from "../api/index.ts";
import {
  type ConsoleDeps,
  createConsole,
  createReadings,
  type Examinations,
  formatRefund,
} from "../console/index.ts";
import { endBreach } from "../ledger/index.ts";
import { REPAIRS } from "./repairs.ts";
import { createRows } from "../health/index.ts";
import { askMove, MOVE_GAUGES } from "../rebalancing/index.ts";
import { ROUTE_GAUGES, ROUTE_MODULES } from "../routes/index.ts";
import {
  refundByOperator,
  retryEach,
  retrySettlement,
  type SettlementDeps,
} from "../settlements/index.ts";
import type { RunningServer } from "./api.ts";
import type { Parts } from "./context.ts";

/** Parts of the console. */
export const CONSOLE_PARTS = ["config", "db", "clock", "random", "log", "format"] as const;

/** Starts the console; does nothing without its listener in the configuration. */
export async function startConsole(
  { config, db, clock, random, log, format }: Parts<(typeof CONSOLE_PARTS)[number]>,
  settlements: SettlementDeps,
  examinations: Examinations,
): Promise<RunningServer | null> {
  const listener = config.console;
  if (!listener) return null;
  let { origin } = listener;
  const context = { chains: config.chains, display: format.display };
  const deps: ConsoleDeps = {
    ...context,
    config,
    db,
    clock,
    random,
    log,
    pepper: config.apiKeyPepper,
    files: readPageFiles(),
    examinations,
    rows: createRows({ db, clock, gauges: [...ROUTE_GAUGES, ...MOVE_GAUGES] }),
    readNodes: createReadings({ ...context, config, nodes: settlements.chains, db, clock, log }),
    endBreach: (end) => endBreach({ db, clock, ...REPAIRS }, end),
    parseAddress: format.parseAny,
    parseRoute: (text) => ROUTE_MODULES.map(({ kind }) => kind).find((kind) => kind === text),
    origin: () => origin ?? "",
    identityProvider: listener.identityProvider,
    askMove: (request) => askMove({ config, db, chains: settlements.chains, log, random }, request),
    retry: (request) => retrySettlement(settlements, request),
    retryEach: (ids, request) => retryEach(settlements, ids, request),
    async refund(request) {
      const { result, asked } = await refundByOperator(settlements, request);
      return formatRefund(context, result, asked);
    },
  };
  const app = createConsole(deps);
  const url = await listen(app, listener, "console.port");
  origin ??= `http://localhost:${new URL(url).port}`;
  return { url: origin, stop: () => app.close() };
}
