/** What runs, waits and is wrong now: the rows behind the metrics, of every role, with the open pauses. */
import type { ConsoleChain, ConsoleOverview } from "@sluice/sdk/wire";
import { type Config, hostOf } from "../config/index.ts";
import type { Clock } from "../core/ports.ts";
import type { Db } from "../db/schema.ts";
import type { Row, Rows } from "../health/index.ts";
import { listReserved } from "../db/rpc-budgets.ts";
import { listIntegrators } from "../integrators/index.ts";
import { listNewestMoves, showMove } from "../rebalancing/index.ts";
import { describeEarly } from "../routes/index.ts";
import { listPauses } from "../settlements/index.ts";
import { nameOf } from "./assets.ts";

const DAY_MS = 86_400_000;
/** Newest moves of treasuries that are shown. */
const MOVES_SHOWN = 20;
const ROLES = ["scanner", "settler", "auditor"];
/** Counts of work that has left its deposit address, by the name of their rows. */
const IN_FLIGHT: Readonly<Record<string, string>> = {
  deliveries: "deliveries",
  bridge_transfers: "bridge transfers",
};

/** Dependencies of the overview. */
export interface OverviewDeps {
  readonly db: Db;
  readonly clock: Clock;
  readonly rows: Rows;
  readonly chains: Config["chains"];
  readonly config: Pick<Config, "attestor" | "attestors" | "chains">;
}

/** Reads the overview. Bounded by the work in progress, not by the history. */
export async function readOverview(deps: OverviewDeps): Promise<ConsoleOverview> {
  const [chains, rows, pauses, integrators, early, moves] = await Promise.all([
    readChainRows(deps),
    deps.rows.read(ROLES),
    listPauses(deps.db, { all: false }),
    listIntegrators(deps.db),
    describeEarly(deps.db, deps.config),
    listNewestMoves(deps.db, MOVES_SHOWN),
  ]);
  const named = (name: string) => rows.filter((row) => row.name === name);
  return {
    chains,
    open: named("settlements").map(({ chainId, label, value, oldestS }) => ({
      chain: nameOf(chainId ?? 0),
      status: label ?? "",
      count: value,
      oldestS: oldestS ?? 0,
    })),
    held: named("held").map(({ chainId, label, value }) => ({
      chain: nameOf(chainId ?? 0),
      reason: label ?? "",
      count: value,
    })),
    inFlight: rows.flatMap(({ name, chainId, label, value, oldestS }) => {
      const what = IN_FLIGHT[name];
      return what === undefined
        ? []
        : [{ chain: nameOf(chainId ?? 0), what, state: label ?? "", count: value, oldestS }];
    }),
    early,
    moves: moves.map((move) => showMove(deps.config, move)),
    pauses: pauses.map(({ scope, chainId, subject, reason, operator, pausedAt }) => ({
      scope,
      chainId,
      chain: chainId === null ? null : nameOf(chainId),
      subject: integrators.find(({ integratorId }) => integratorId === subject)?.name ?? subject,
      reason,
      operator,
      pausedAt,
    })),
  };
}

/** Reads every chain. */
export async function readChainRows(deps: OverviewDeps): Promise<readonly ConsoleChain[]> {
  const day = Math.floor(deps.clock.now() / DAY_MS);
  const [rows, reserved] = await Promise.all([deps.rows.read(ROLES), listReserved(deps.db, day)]);
  return deps.chains.map((chain) => ({
    ...describeChain(rows, chain.chainId),
    budgets: listBudgets(deps.config, chain).map(({ host, max }) => {
      const own = reserved.find((one) => one.chainId === chain.chainId && one.host === host);
      return { host, max, used: own?.count ?? 0 };
    }),
  }));
}

/** Lists the daily budgets of the nodes of a chain, each host once, those of the attestor included. */
function listBudgets(
  { attestor }: OverviewDeps["config"],
  { chainId, nodes }: Config["chains"][number],
): readonly { readonly host: string; readonly max: number }[] {
  const all = [...nodes.all, ...(attestor.nodes.get(chainId)?.all ?? [])];
  const budgets = all.flatMap(({ url, requestsPerDay }) => {
    const host = hostOf(url);
    return host === null || requestsPerDay === undefined ? [] : [[host, requestsPerDay] as const];
  });
  return [...new Map(budgets)].map(([host, max]) => ({ host, max }));
}

function describeChain(rows: readonly Row[], chainId: number): Omit<ConsoleChain, "budgets"> {
  const own = rows.filter((row) => row.chainId === chainId);
  const find = (name: string) => own.find((row) => row.name === name)?.value ?? null;
  const sum = (name: string) =>
    own.filter((row) => row.name === name).reduce((total, { value }) => total + value, 0);
  return {
    chainId,
    name: nameOf(chainId),
    scanned: find("scanned"),
    final: find("final"),
    queued: sum("queued"),
    unmined: sum("nonces"),
    stuck: sum("stuck"),
    auditedS: find("audited"),
    breaches: sum("breaches"),
    quarantines: sum("quarantines"),
    unproved: sum("unproved"),
    governance: sum("governance"),
  };
}
