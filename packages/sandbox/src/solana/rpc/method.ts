import type { Chain } from "../chain.ts";
import type { Block, CommitmentLevel } from "../ledger.ts";
import { type Params, toCommitment, toInteger } from "./params.ts";
import { RPC_CODES, RpcError } from "./rpc-error.ts";

/** Handles requests of one method. */
export type Method = (params: Params) => unknown;

/** Methods by name. */
export type Methods = Readonly<Record<string, Method>>;

/** The node version that responses report. */
export const API_VERSION = "3.0.0";

/** The view of a read: the newest block of its commitment level. */
export interface View {
  readonly commitment: CommitmentLevel;
  readonly block: Block;
}

/** Returns the view for the options of a method. Throws if `minContextSlot` is newer. */
export function viewOf(chain: Chain, options: Readonly<Record<string, unknown>>): View {
  const commitment = toCommitment(options["commitment"]);
  const block = chain.ledger.tip(commitment);
  const { minContextSlot } = options;
  if (minContextSlot !== undefined && toInteger(minContextSlot, "minContextSlot") > block.slot) {
    throw new RpcError(
      RPC_CODES.minContextSlotNotReached,
      "Minimum context slot has not been reached",
      { contextSlot: block.slot },
    );
  }
  return { commitment, block };
}

/** Wraps a result with the slot of its view. */
export function inContext({ block }: Pick<View, "block">, value: unknown) {
  return { context: { apiVersion: API_VERSION, slot: block.slot }, value };
}
