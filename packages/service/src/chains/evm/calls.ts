/** Reads a contract at a named read point. */
import type { EvmAddress, Hex } from "../../core/hex.ts";
import type { ReadAt, ReadPoint } from "../port/index.ts";
import { parseBlock, parseBytes } from "./answers.ts";
import { revertReasonOf } from "./revert.ts";
import type { NodeAnswer, NodeError, Rpc } from "./rpc.ts";

/** Gas limit of a view: enough for balances of tokens behind proxies, and a bound on hostile contracts. */
const VIEW_GAS_MAX = 2_000_000n;
/** JSON-RPC's code for parameters that the method does not know. */
const INVALID_PARAMS = -32602;

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
 * Calls a view of a contract that may lack it, and is not trusted unless the view says so. Returns null if it reverts, runs out of gas or returns another form. Throws
 * RPC_UNAVAILABLE if the node gave no answer about it.
 */
export async function findInView<T>(
  rpc: Rpc,
  view: View,
  parse: (returned: Hex) => T,
): Promise<T | null> {
  const answer = await callView(rpc, { isForeign: true, ...view });
  if (!answer.ok) {
    if (revertReasonOf(answer) !== null) return null;
    throw rpc.refusal("eth_call", answer);
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
  /**
   * Whether anybody may have made the contract, so that it may take as long as its gas allows, or the function changes state.
   * Others of one turn are one call, in which they can change nothing.
   */
  readonly isForeign?: boolean;
}

/**
 * Calls at the read point. Some nodes know the tag `finalized` for blocks and not for state; there the newest final block is
 * read first and named by its hash, which is the same point or a newer one.
 */
async function callView(
  rpc: Rpc,
  { to, data, at, gas = VIEW_GAS_MAX, isForeign = false }: View,
): Promise<NodeAnswer> {
  const call = { to, data, gas: toQuantity(gas) };
  const point = blockParameterOf(at);
  // Nobody waits for a foreign contract but its own reader, or for another server that has the block.
  const answer =
    !isForeign && typeof point === "string"
      ? await rpc.share("eth_call", [call, point])
      : await rpc.call("eth_call", [call, point]);
  if (answer.ok || at !== "final" || !isAboutTheTag(answer)) return answer;
  const block = await rpc.ask("eth_getBlockByNumber", [tagOf(at), false], parseBlock);
  if (block === null) throw rpc.unavailable("no finalized block");
  return rpc.call("eth_call", [call, { blockHash: block.hash, requireCanonical: true }]);
}

function isAboutTheTag(error: NodeError): boolean {
  if (revertReasonOf(error) !== null) return false;
  return (
    error.code === INVALID_PARAMS || /finalized|block (?:tag|number|param)/i.test(error.message)
  );
}

/** Calls a view and parses its result. Throws RPC_UNAVAILABLE if it reverts or returns another form. */
export async function readView<T>(rpc: Rpc, view: View, parse: (returned: Hex) => T): Promise<T> {
  const answer = await callView(rpc, view);
  if (!answer.ok) {
    const reason = revertReasonOf(answer);
    if (reason === null) throw rpc.refusal("eth_call", answer);
    throw rpc.unavailable(reason, `eth_call: ${answer.message}`);
  }
  return rpc.read("eth_call", answer.result, (result) => parse(parseBytes(result)));
}
