/** Describes a breach in words: its effect, cause and remedy. */
import type { Breach } from "./breaches.ts";
import { VERDICTS } from "./verdicts.ts";

/** Facts of a breach for an operator. */
export interface DescribedBreach {
  /** The work that stops, in one sentence. */
  readonly effect: string;
  /** Null in rows of earlier releases. */
  readonly cause: string | null;
  readonly remedy: string | null;
}

/** Describes a breach. */
export function describeBreach({ verdict, holding }: Breach): DescribedBreach {
  const known = verdict === null ? null : VERDICTS[verdict];
  const effect = holding
    ? "No sweep of this token from this wallet is planned."
    : known?.stops === "nothing"
      ? "Nothing stands still."
      : known?.claims === "go on"
        ? "On this chain nothing is signed or sent, except claims."
        : "On this chain nothing is signed or sent.";
  return { effect, cause: known?.cause ?? null, remedy: known?.remedy ?? null };
}
