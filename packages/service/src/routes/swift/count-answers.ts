/** Counts the attestors that signed a message, as the contracts do. */
import type { EvmAddress, Hex } from "../../core/hex.ts";
import type { AttestedMessage, AttestorSet } from "../../signers/port.ts";

/** An answer as it is stored: nothing in it is believed but a signature. */
export interface Answer {
  readonly written_by: string;
  readonly signature: string | null;
  readonly refusal: string | null;
}

/**
 * Returns the signatures of as many attestors as the threshold, in the form of the contracts: one after the other, sorted
 * by signer. Signatures by nobody known, or over another message, are ignored: one attestor's rubbish must not spoil the
 * others' signatures. A refusal is final when too few attestors are left; each database user refuses once, with any
 * number of rows.
 */
export function countAnswers(
  { threshold, accounts, recover }: AttestorSet,
  message: AttestedMessage,
  answers: readonly Answer[],
): { readonly signatures: Hex | null; readonly refusal: string | null } {
  const signed = new Map<EvmAddress, Hex>();
  for (const { signature } of answers) {
    if (signature === null) continue;
    // CAST: text of another process; `recover` answers null for anything that is no signature.
    const signer = recover(message, signature as Hex);
    if (signer === null || (accounts.length > 0 && !accounts.includes(signer))) continue;
    // CAST: it was recovered, so it is hex.
    signed.set(signer, signature as Hex);
  }
  if (signed.size >= threshold) {
    // Lower-case hex of one length sorts as the number does.
    const sorted = [...signed].toSorted(([a], [b]) => (a < b ? -1 : 1)).slice(0, threshold);
    return { signatures: `0x${sorted.map(([, one]) => one.slice(2)).join("")}`, refusal: null };
  }
  const refusals = new Map(
    answers.flatMap(({ written_by: by, refusal }) => (refusal === null ? [] : [[by, refusal]])),
  );
  const left = Math.max(accounts.length, threshold) - refusals.size;
  const [first] = refusals.values();
  return { signatures: null, refusal: left < threshold ? (first ?? null) : null };
}
