/** What runs, waits and is wrong now: the rows behind the metrics, of every role, with the open pauses. */
import type { ConsoleChain, ConsoleOverview } from "@sluice/sdk/wire";
import type { Config } from "../config/index.ts";
import type { Db } from "../db/schema.ts";
import type { Row, Rows } from "../health/index.ts";
import { listIntegrators } from "../integrators/index.ts";
import { listPauses } from "../settlements/index.ts";
import { nameOf } from "./assets.ts";

const ROLES = ["scanner", "settler", "auditor"];
/** Counts of work that has left its deposit address, by the name of their rows. */
const IN_FLIGHT: Readonly<Record<string, string>> = {
  deliveries: "deliveries",
  bridge_transfers: "bridge transfers",
};

/** Reads the overview. Bounded by the work in progress, not by the history. */
export async function readOverview(deps: {
  readonly db: Db;
  readonly rows: Rows;
  readonly chains: Config["chains"];
}): Promise<ConsoleOverview> {
  const [rows, pauses, integrators] = await Promise.all([
    deps.rows.read(ROLES),
    listPauses(deps.db, { all: false }),
    listIntegrators(deps.db),
  ]);
  const named = (name: string) => rows.filter((row) => row.name === name);
  return {
    chains: deps.chains.map(({ chainId }) => describeChain(rows, chainId)),
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

/** Reads one chain. */
export async function readChainRow(
  { rows }: { readonly rows: Rows },
  chainId: number,
): Promise<ConsoleChain> {
  return describeChain(await rows.read(ROLES), chainId);
}

function describeChain(rows: readonly Row[], chainId: number): ConsoleChain {
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
