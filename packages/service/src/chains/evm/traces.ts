/**
 * Reads traces, where the node offers them: accounts that contracts may have paid in a block. A trace is only a hint to read
 * a balance, so a wrong one costs one balance read.
 */
import { Type } from "typebox";
import { Compile } from "typebox/compile";
import type { EvmAddress } from "../../core/hex.ts";
import { toEvmAddress } from "../../core/hex.ts";
import type { BlockRef } from "../port/index.ts";
import { classifyLimit } from "./limits.ts";
import type { Rpc } from "./rpc.ts";

const Traces = Compile(Type.Array(Type.Object({ result: Type.Unknown() })));

/** A frame of `callTracer`. Nested calls are checked one by one, because they can nest a thousand deep. */
const Frame = Compile(
  Type.Object({
    to: Type.Optional(Type.String({ pattern: "^0x[0-9a-fA-F]{40}$" })),
    value: Type.Optional(Type.String({ pattern: "^0x[0-9a-fA-F]{1,64}$" })),
    error: Type.Optional(Type.String()),
    calls: Type.Optional(Type.Array(Type.Unknown())),
  }),
);

/**
 * Returns a reader of payees by traces. A node without the method is not asked again, nor is one that refuses the first
 * request for an unknown reason.
 */
export function createTraceReader(
  rpc: Rpc,
): (block: BlockRef) => Promise<readonly EvmAddress[] | null> {
  let known: "unknown" | "has" | "lacks" = "unknown";
  return async (block) => {
    if (known === "lacks") return null;
    const method = "debug_traceBlockByHash";
    const answer = await rpc.call(method, [block.hash, { tracer: "callTracer" }]);
    if (!answer.ok) {
      const kind = classifyLimit(answer)?.kind;
      if (kind === "unsupported_method" || (kind === undefined && known === "unknown")) {
        known = "lacks";
      }
      return null;
    }
    known = "has";
    return rpc.read(method, answer.result, listPayees);
  };
}

/** Lists the accounts that successful frames gave value to. Throws TypeError on another form. */
function listPayees(result: unknown): EvmAddress[] {
  if (!Traces.Check(result)) throw new TypeError("the answer is not of the expected form");
  const payees = new Set<EvmAddress>();
  const open: unknown[] = result.map((trace) => trace.result);
  while (open.length > 0) {
    const frame = open.pop();
    if (!Frame.Check(frame)) throw new TypeError("a frame is not of the expected form");
    if (frame.error !== undefined) continue;
    if (frame.to !== undefined && BigInt(frame.value ?? "0x0") > 0n) {
      payees.add(toEvmAddress(frame.to));
    }
    open.push(...(frame.calls ?? []));
  }
  return [...payees];
}
