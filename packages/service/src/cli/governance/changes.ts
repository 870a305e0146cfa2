/** Changes of the contracts as the commands show them. */
import { findChainById } from "../../core/chain-registry.ts";
import type { ShownChange, Standing } from "../../governance/index.ts";
import { UsageError } from "../failure.ts";

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
