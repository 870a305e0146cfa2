/** The arguments of the commands about one nonce of a lane. */
import { findChainById, findChainByName } from "../../core/chain-registry.ts";
import { isEvmAddress, toEvmAddress } from "../../core/hex.ts";
import type { NonceRequest, NonceResult } from "../../transactions/index.ts";
import { UsageError } from "../failure.ts";
import { nameOperator, parseReason } from "../operator.ts";

export interface NonceInput {
  /** Bridge id or name. */
  readonly chain: string;
  readonly lane: string;
  readonly nonce: string;
  readonly reason: string;
}

/** Parses the arguments. Throws `UsageError`; lanes of Solana have no nonces, and their transactions expire. */
export function parseNonceRequest({ chain, lane, nonce, reason }: NonceInput): NonceRequest {
  const known = findChainById(Number(chain)) ?? findChainByName(chain.toLowerCase());
  if (!known) {
    throw new UsageError(`<chain>: expected the bridge id or name of a chain, got "${chain}".`);
  }
  const { chainId } = known;
  if (!isEvmAddress(lane)) {
    throw new UsageError(`<lane>: expected 0x and 40 hex digits, got "${lane}".`);
  }
  if (!/^\d{1,9}$/.test(nonce)) {
    throw new UsageError(`<nonce>: expected a whole number, got "${nonce}".`);
  }
  return {
    chainId,
    lane: toEvmAddress(lane),
    nonce: Number(nonce),
    operator: nameOperator(),
    reason: parseReason(reason),
  };
}

/** Formats the result for people. */
export function formatNonce(
  action: "cancel" | "fill",
  nonce: string,
  { intent, changed }: NonceResult,
): string {
  if (!changed) return `nothing changed: nonce ${nonce} is that of ${intent} already`;
  return action === "cancel"
    ? `${intent} is given up: the lane sends a transfer of nothing for nonce ${nonce}`
    : `the lane sends a transfer of nothing for nonce ${nonce} (${intent})`;
}
