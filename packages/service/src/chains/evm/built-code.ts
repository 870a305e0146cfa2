/** Compares code on a chain with this build. */
import {
  cctpRouteBytecode,
  deliveryBytecode,
  depositFactoryBytecode,
  depositWalletBytecode,
  escrowBytecode,
  pricedRouteBytecode,
  sameAssetRouteBytecode,
  swapCctpRouteBytecode,
  swapRouteBytecode,
  transferRouteBytecode,
  treasuryBytecode,
} from "@sluice/contracts/bytecode";
import type { Hex } from "../../core/hex.ts";
import type { BuiltContract } from "../inspector.ts";

const CREATION_CODE: Readonly<Record<BuiltContract, Hex>> = {
  factory: depositFactoryBytecode,
  implementation: depositWalletBytecode,
  escrow: escrowBytecode,
  delivery: deliveryBytecode,
  treasury: treasuryBytecode,
  transferRoute: transferRouteBytecode,
  sameAssetRoute: sameAssetRouteBytecode,
  pricedRoute: pricedRouteBytecode,
  cctpRoute: cctpRouteBytecode,
  swapRoute: swapRouteBytecode,
  swapCctpRoute: swapCctpRouteBytecode,
};

/** PUSH32 of zero: the compiler's placeholder for an immutable value. Our contracts push it nowhere else. */
const HOLE = `7f${"0".repeat(64)}`;

/**
 * Returns the immutable values of the code in order, or null if the code is not the contract's. The creation code contains
 * the code that it returns and pushes its offset and size, so a fragment cannot pass for the whole.
 */
export function readImmutables(contract: BuiltContract, code: Hex): readonly Hex[] | null {
  const creation = CREATION_CODE[contract].slice(2);
  const found = code.slice(2);
  if (found === "") return null;
  for (const begin of listBegins(creation, found.length / 2)) {
    const built = creation.slice(begin * 2, begin * 2 + found.length);
    const immutables = matchBuilt(built, found);
    if (immutables !== null) return immutables;
  }
  return null;
}

/** Lists byte offsets at which code of that size may start: the creation code pushes both offset and size. */
function listBegins(creation: string, size: number): readonly number[] {
  const begins: number[] = [];
  const pushed = new Set<number>();
  for (let at = 0; at < creation.length / 2;) {
    if (pushed.has(at) && pushed.has(size)) begins.push(at);
    const width = pushWidthOf(Number.parseInt(creation.slice(at * 2, at * 2 + 2), 16));
    if (width === 1 || width === 2) {
      pushed.add(Number.parseInt(creation.slice(at * 2 + 2, at * 2 + 2 + width * 2), 16));
    }
    at += 1 + width;
  }
  return begins;
}

/** Returns the operand size of an instruction in bytes: PUSH1 is 0x60, PUSH32 is 0x7f. */
function pushWidthOf(opcode: number): number {
  return opcode >= 0x60 && opcode <= 0x7f ? opcode - 0x5f : 0;
}

/** Returns the values in the placeholders, or null if anything else differs. */
function matchBuilt(built: string, found: string): readonly Hex[] | null {
  if (built.length !== found.length) return null;
  const immutables: Hex[] = [];
  let at = 0;
  for (const [index, part] of built.split(HOLE).entries()) {
    if (index > 0) {
      if (!found.startsWith("7f", at)) return null;
      immutables.push(`0x${found.slice(at + 2, at + HOLE.length)}`);
      at += HOLE.length;
    }
    if (!found.startsWith(part, at)) return null;
    at += part.length;
  }
  return immutables;
}
