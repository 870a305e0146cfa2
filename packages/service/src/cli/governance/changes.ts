/** Changes of the contracts as the commands show them. */
import type { Config } from "../../config/index.ts";
import { formatUnits } from "../../core/amounts.ts";
import { findChainById } from "../../core/chain-registry.ts";
import { formatStamp } from "../../core/stamp.ts";
import { EXECUTE_WITHIN_S, type Standing } from "../../governance/index.ts";
import { addressFormat } from "../../roles/address-format.ts";
import { UsageError } from "../failure.ts";

/** A change as the commands print it. */
export interface ShownChange {
  /** Number of the change, for the other commands. */
  readonly change: string;
  readonly chainId: number;
  readonly contract: string;
  readonly role: string;
  /** The account, or the token of a daily cap; null for a threshold and a pause. */
  readonly account: string | null;
  readonly threshold: number | null;
  /** Whole units in 24 hours if the token is configured, else base units. */
  readonly perDay: string | null;
  readonly state: Standing["state"];
  readonly isExpected: boolean;
  /** Wire timestamps between which it can be executed; null if it is not scheduled, or waits for acceptance only. */
  readonly executable: { readonly from: string; readonly until: string } | null;
  readonly expected: { readonly by: string; readonly reason: string } | null;
  readonly transaction: string;
}

/** Returns a change as the commands print it. */
export function showChange(config: Pick<Config, "chains">, change: Standing): ShownChange {
  const { chainId, role, subject, perDay, readyAt } = change;
  const token = config.chains
    .find((chain) => chain.chainId === chainId)
    ?.tokens.find(({ address }) => address === subject);
  return {
    change: `${change.id}`,
    chainId,
    contract: addressFormat.display(change.contract),
    role,
    account: role === "threshold" || role === "pause" ? null : addressFormat.display(subject),
    threshold: role === "threshold" ? Number(BigInt(subject)) : null,
    perDay:
      perDay === null
        ? null
        : token
          ? `${formatUnits(perDay, token.decimals)} ${token.symbol}`
          : `${perDay}`,
    state: change.state,
    isExpected: change.isExpected,
    executable:
      readyAt === null
        ? null
        : { from: stampOf(readyAt), until: stampOf(readyAt + EXECUTE_WITHIN_S) },
    expected: change.expected,
    transaction: change.txHash,
  };
}

function stampOf(seconds: bigint): string {
  return formatStamp(Number(seconds) * 1000);
}

/** Formats a change for people. */
export function formatChange(shown: ShownChange, nowMs: number): string {
  const { change, chainId, role, account, threshold, perDay, state, expected } = shown;
  const subject = [role.replace("_", " "), account, threshold, perDay && `to ${perDay}`]
    .filter((part) => part !== null)
    .join(" ");
  const chain = findChainById(chainId)?.name ?? `chain ${chainId}`;
  return [
    `${change}  ${chain}  ${subject}  ${formatState(shown, nowMs)}${shown.isExpected ? "" : "  NOT EXPECTED"}`,
    `  contract     ${shown.contract}`,
    `  transaction  ${shown.transaction}`,
    ...(state === "pending" && expected
      ? [`  expected by  ${expected.by}: ${expected.reason}`]
      : []),
  ].join("\n");
}

function formatState({ state, executable }: ShownChange, nowMs: number): string {
  if (state !== "pending") return state.replace("_", " ");
  if (!executable) return "pending, until it is accepted";
  const leftMs = Date.parse(executable.from) - nowMs;
  const when = leftMs > 0 ? `in ${formatSpan(leftMs)}` : "now";
  return `pending, can be executed ${when}, until ${executable.until}`;
}

/** Returns a span in its two largest units, such as `6 d 23 h`. */
function formatSpan(ms: number): string {
  const minutes = Math.ceil(ms / 60_000);
  const [days, hours] = [Math.floor(minutes / 1440), Math.floor((minutes % 1440) / 60)];
  if (days > 0) return `${days} d ${hours} h`;
  return hours > 0 ? `${hours} h ${minutes % 60} min` : `${minutes} min`;
}

/** Parses the number of a change. */
export function parseChange(text: string): bigint {
  if (/^[1-9]\d{0,17}$/.test(text)) return BigInt(text);
  throw new UsageError("change: expected a number, as `sluice governance list` shows it.");
}

/** Returns the change of a number. Throws `UsageError` if it does not stand. */
export function findChange(standing: readonly Standing[], text: string): Standing {
  const id = parseChange(text);
  const found = standing.find((one) => one.id === id);
  if (found) return found;
  throw new UsageError(
    `change: ${id} is unknown or was followed by another; \`sluice governance list --all\` shows those that stand.`,
  );
}
