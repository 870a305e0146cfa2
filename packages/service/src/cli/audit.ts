/** `sluice audit`: compares the ledger with the chains, and lists the place of every base unit that is not settled. */
import type { Config } from "../config/index.ts";
import { formatUnits } from "../core/amounts.ts";
import { findChainById } from "../core/chain-registry.ts";
import {
  auditChain,
  type Breach,
  describeBreach,
  listBreaches,
  listUnsettled,
  type Unsettled,
} from "../ledger/index.ts";
import { createLog } from "../telemetry/log.ts";
import { createAudits } from "../roles/auditor.ts";
import type { Call, Result } from "./command.ts";
import { withDatabase } from "./with-database.ts";
import { createChains } from "../roles/chains.ts";
import { createCommandTraffic } from "../roles/command-traffic.ts";
import { systemClock } from "../roles/system-ports.ts";
import { ROUTE_AUDITS } from "../routes/index.ts";

export interface AuditReport {
  /** True if every chain could be compared and no breach is open. */
  readonly ok: boolean;
  readonly breaches: readonly Breach[];
  readonly unsettled: readonly Unsettled[];
  /** Final block up to which each chain was compared, null if it could not be, and the number of wallets. */
  readonly chains: readonly {
    readonly chainId: number;
    readonly block: string | null;
    readonly wallets: number;
  }[];
}

/** Compares the ledger with the chains; fails if it cannot, or if a breach is open. */
export async function run(call: Call): Promise<Result> {
  const { report, text } = await proveBooks(call);
  return { json: report, text, failed: !report.ok };
}

/** Compares the books of the configuration with its chains. Throws RPC_UNAVAILABLE if a node does not answer. */
export async function proveBooks(call: Call): Promise<{
  readonly ok: boolean;
  readonly text: string;
  readonly report: AuditReport;
}> {
  const config = call.readConfig({ roles: [] });
  const report = await auditCommand(config);
  return { ok: report.ok, text: formatAudit(config, report), report };
}

/** Audits every chain completely. Throws RPC_UNAVAILABLE if a node does not answer, without a result. */
export async function auditCommand(config: Config): Promise<AuditReport> {
  const log = createLog({ level: config.logLevel, role: "audit" });
  const chains = createChains(config, {
    clock: systemClock,
    log,
    trafficOf: createCommandTraffic(),
  });
  return withDatabase(config, async ({ db }) => {
    const compared = [];
    for (const deps of createAudits({ config, db, chains, clock: systemClock, log })) {
      const { block, wallets } = await auditChain(deps, "all");
      const { chainId } = deps.chain;
      compared.push({ chainId, block: block === null ? null : `${block}`, wallets });
    }
    const breaches = await listBreaches(db);
    return {
      ok: breaches.length === 0 && compared.every(({ block }) => block !== null),
      breaches,
      unsettled: await listUnsettled(db, ROUTE_AUDITS),
      chains: compared,
    };
  });
}

/** Returns why a chain could not be compared. */
function whyNotCompared({ breaches }: AuditReport, chainId: number): string {
  const isReplaced = breaches.some(
    (one) => one.chainId === chainId && one.verdict === "final_block_replaced",
  );
  return isReplaced
    ? "a final block is no longer on the chain, see the breach"
    : "no final block is scanned yet, the nodes are on another fork than the scanner or lack its state, or a difference " +
        "waits for the second look";
}

/** Formats a breach: the facts, what stands still, its cause and its remedy. */
function formatBreach(breach: Breach, chain: string): string[] {
  const { id, invariant, verdict, subject, details, foundAt, heldSince, holding } = breach;
  const stops = holding ? "quarantine" : "breach";
  const { effect, cause, remedy } = describeBreach(breach);
  return [
    `${stops} ${id} of ${invariant} on ${chain} since ${foundAt}: ${verdict ?? "unnamed"} ${subject} ${JSON.stringify(details)}`,
    `  ${effect}`,
    ...(cause === null ? [] : [`  Cause: ${cause}.`]),
    ...(remedy === null ? [] : [`  Remedy: ${remedy}.`]),
    ...(heldSince
      ? [`  The values agree again since ${heldSince}; ending it corrects nothing.`]
      : []),
    `  End it: sluice audit end ${id} --reason "..."`,
  ];
}

const PLACES = { wallet: "in wallet", transit: "in transit", in_flight: "in flight" } as const;

/** Formats a report as lines of text. */
export function formatAudit(config: Config, report: AuditReport): string {
  const nameOf = (chainId: number) => findChainById(chainId)?.name ?? `chain ${chainId}`;
  const show = ({ chainId, token, amount }: Unsettled) => {
    const known = config.chains
      .find((chain) => chain.chainId === chainId)
      ?.tokens.find(({ address }) => address === token);
    return known
      ? `${formatUnits(BigInt(amount), known.decimals)} ${known.symbol}`
      : `${amount} base units of ${token}`;
  };
  const compared = report.chains.map(({ chainId, block, wallets }) =>
    block === null
      ? `${nameOf(chainId)}: not compared: ${whyNotCompared(report, chainId)}`
      : `${nameOf(chainId)}: compared at block ${block}, wallets: ${wallets}`,
  );
  const breaches = report.breaches.flatMap((breach) => [
    ...formatBreach(breach, nameOf(breach.chainId)),
    "",
  ]);
  const unsettled = report.unsettled.map(
    (one) =>
      `${nameOf(one.chainId)} ${one.wallet}: ${show(one)} ${PLACES[one.place]}, ${one.reason}` +
      (one.settlementId ? ` (${one.settlementId})` : ""),
  );
  return [
    ...compared,
    "",
    ...breaches,
    unsettled.length > 0 ? "Not settled:" : "Every deposit is settled.",
    ...unsettled,
    "",
    report.ok ? "The ledger agrees with the chains." : "The ledger is NOT proved.",
  ].join("\n");
}
