/** Reading a contract at a named point of view. */
import type { EvmAddress, Hex } from "../../core/hex.ts";
import type { ReadAt, ReadPoint } from "../port/index.ts";
import { parseBytes } from "./answers.ts";
import { revertReasonOf } from "./revert.ts";
import type { Rpc } from "./rpc.ts";

/** More than any view needs, including balances of tokens behind proxies; keeps a hostile one from burning a node. */
const VIEW_GAS_MAX = 2_000_000n;

/** The tag of a point of view. Nothing falls back from `finalized` to a weaker one. */
export function tagOf(at: ReadAt): "latest" | "finalized" {
  return at === "final" ? "finalized" : "latest";
}

/** The parameter of a read of state. A node that has another block at the height refuses it (EIP-1898). */
export function blockParameterOf(at: ReadPoint) {
  return typeof at === "string" ? tagOf(at) : { blockHash: at.hash, requireCanonical: true };
}

/** A number as JSON-RPC writes it. */
export function toQuantity(value: bigint | number): Hex {
  return `0x${value.toString(16)}`;
}

/**
 * Calls a view of a contract that anybody may have named. Null when it reverts, burns all gas or returns another form;
 * throws RPC_UNAVAILABLE when the node gave no answer about it.
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
    // The contract's own bytes, in whatever form it likes.
    return null;
  }
}

interface View {
  readonly to: EvmAddress;
  readonly data: Hex;
  readonly at: ReadPoint;
  /** The most that it may take; enough for any plain view unless given. */
  readonly gas?: bigint;
}

function callView(rpc: Rpc, { to, data, at, gas = VIEW_GAS_MAX }: View) {
  return rpc.call("eth_call", [{ to, data, gas: toQuantity(gas) }, blockParameterOf(at)]);
}

/** Calls a view and parses what it returned. Throws RPC_UNAVAILABLE when it reverts or returns another form. */
export async function readView<T>(rpc: Rpc, view: View, parse: (returned: Hex) => T): Promise<T> {
  const answer = await callView(rpc, view);
  if (!answer.ok) {
    const reason = revertReasonOf(answer) ?? `node error ${answer.code}`;
    throw rpc.unavailable(reason, `eth_call: ${answer.message}`);
  }
  return rpc.read("eth_call", answer.result, (result) => parse(parseBytes(result)));
}
