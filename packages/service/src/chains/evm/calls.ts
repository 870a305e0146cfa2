/** Reads a contract at a named read point. */
import type { EvmAddress, Hex } from "../../core/hex.ts";
import type { ReadAt, ReadPoint } from "../port/index.ts";
import { parseBytes } from "./answers.ts";
import { revertReasonOf } from "./revert.ts";
import type { Rpc } from "./rpc.ts";

/** Gas limit of a view: enough for balances of tokens behind proxies, and a bound on hostile contracts. */
const VIEW_GAS_MAX = 2_000_000n;

/** Returns the block tag of a read point. `finalized` never falls back to a weaker tag. */
export function tagOf(at: ReadAt): "latest" | "finalized" {
  return at === "final" ? "finalized" : "latest";
}

/** Returns the block parameter of a state read. A node with another block at that height refuses it (EIP-1898). */
export function blockParameterOf(at: ReadPoint) {
  return typeof at === "string" ? tagOf(at) : { blockHash: at.hash, requireCanonical: true };
}

/** Formats a number as a JSON-RPC quantity. */
export function toQuantity(value: bigint | number): Hex {
  return `0x${value.toString(16)}`;
}

/**
 * Calls a view of an untrusted contract. Returns null if it reverts, runs out of gas or returns another form. Throws
 * RPC_UNAVAILABLE if the node gave no answer about it.
 */
export async function findInView<T>(
  rpc: Rpc,
  view: View,
  parse: (returned: Hex) => T,
): Promise<T | null> {
  const answer = await callView(rpc, view);
  if (!answer.ok) {
    if (revertReasonOf(answer) !== null) return null;
    throw rpc.unavailable(`node error ${answer.code}`, `eth_call: ${answer.message}`);
  }
  const returned = rpc.read("eth_call", answer.result, parseBytes);
  try {
    return parse(returned);
  } catch {
    // The contract returned bytes of another form.
    return null;
  }
}

interface View {
  readonly to: EvmAddress;
  readonly data: Hex;
  readonly at: ReadPoint;
  /** Gas limit; the default suffices for any plain view. */
  readonly gas?: bigint;
}

function callView(rpc: Rpc, { to, data, at, gas = VIEW_GAS_MAX }: View) {
  return rpc.call("eth_call", [{ to, data, gas: toQuantity(gas) }, blockParameterOf(at)]);
}

/** Calls a view and parses its result. Throws RPC_UNAVAILABLE if it reverts or returns another form. */
export async function readView<T>(rpc: Rpc, view: View, parse: (returned: Hex) => T): Promise<T> {
  const answer = await callView(rpc, view);
  if (!answer.ok) {
    const reason = revertReasonOf(answer) ?? `node error ${answer.code}`;
    throw rpc.unavailable(reason, `eth_call: ${answer.message}`);
  }
  return rpc.read("eth_call", answer.result, (result) => parse(parseBytes(result)));
}
