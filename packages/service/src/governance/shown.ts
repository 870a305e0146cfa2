/** Changes of the contracts as operators see them. */
import type { Config } from "../config/index.ts";
import { formatUnits } from "../core/amounts.ts";
import type { Address } from "../core/hex.ts";
import { formatStamp } from "../core/stamp.ts";
import { EXECUTE_WITHIN_S, type Standing } from "./standing.ts";

/** A change with what it is about in words. */
export interface ShownChange {
  /** Number of the change, by which it is expected. */
  readonly change: string;
  readonly chainId: number;
  readonly contract: string;
  readonly role: string;
  /** The account, or the token of a daily cap or a withdrawal; null for a threshold and a pause. */
  readonly account: string | null;
  readonly threshold: number | null;
  /** Whole units of a withdrawal, or in 24 hours, if the token is configured; else base units. */
  readonly perDay: string | null;
  readonly state: Standing["state"];
  readonly isExpected: boolean;
  /** Wire timestamps between which it can be executed; null if it is not scheduled, or waits for acceptance only. */
  readonly executable: { readonly from: string; readonly until: string } | null;
  readonly expected: { readonly by: string; readonly reason: string } | null;
  readonly transaction: string;
}

/** Returns a change as it is shown. */
export function showChange(
  { chains, display }: Pick<Config, "chains"> & { readonly display: (address: Address) => string },
  change: Standing,
): ShownChange {
  const { chainId, role, subject, perDay, readyAt } = change;
  const token = chains
    .find((chain) => chain.chainId === chainId)
    ?.tokens.find(({ address }) => address === (change.token ?? subject));
  return {
    change: `${change.id}`,
    chainId,
    contract: display(change.contract),
    role,
    account: role === "threshold" || role === "pause" ? null : display(subject),
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
