import type { Chain } from "../chain.ts";
import type { Block, Commitment } from "../ledger.ts";
import { type Params, toCommitment, toWhole } from "./params.ts";
import { RPC_CODES, RpcError } from "./rpc-error.ts";

/** Answers one method. */
export type Method = (params: Params) => unknown;

/** Methods by name. */
export type Methods = Readonly<Record<string, Method>>;

/** Version of the node that answers are given as. */
export const API_VERSION = "3.0.0";

/** What a read sees: the newest block of its commitment, unless the caller has seen a newer one. */
export interface View {
  readonly commitment: Commitment;
  readonly block: Block;
}

/** The view that the options of a method ask for. */
export function viewOf(chain: Chain, options: Readonly<Record<string, unknown>>): View {
  const commitment = toCommitment(options["commitment"]);
  const block = chain.ledger.tip(commitment);
  const { minContextSlot } = options;
  if (minContextSlot !== undefined && toWhole(minContextSlot, "minContextSlot") > block.slot) {
    throw new RpcError(
      RPC_CODES.minContextSlotNotReached,
      "Minimum context slot has not been reached",
      { contextSlot: block.slot },
    );
  }
  return { commitment, block };
}

/** An answer with the slot that it is true of. */
export function inContext({ block }: Pick<View, "block">, value: unknown) {
  return { context: { apiVersion: API_VERSION, slot: block.slot }, value };
}
