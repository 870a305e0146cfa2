/**
 * A symbolic executor for short EVM bytecode without loops. It follows every path: at a jump whose condition is not a
 * constant, both. An opcode that it does not know ends the execution with an error, so what it reports holds for all calls.
 * Opcodes and gas-independent semantics: Ethereum Yellow Paper, appendix H.
 */

/** A word: a constant, or the name of an unknown. Equal names are equal words. */
export type Word = bigint | string;

/** An effect of the code beyond its stack. */
export type Effect =
  | { readonly kind: "copy"; readonly of: "calldata" | "code" | "returndata"; readonly args: Words }
  | { readonly kind: "delegatecall"; readonly args: Words; readonly result: string };

/** How a path ends. */
export interface End {
  readonly kind: "stop" | "return" | "revert";
  /** Offset and size in memory. */
  readonly args: Words;
}

type Words = readonly Word[];

/** One way through the code. */
export interface Path {
  /** Unknown words that this path assumes to be zero or not. */
  readonly assumed: Readonly<Record<string, "zero" | "not zero">>;
  readonly effects: readonly Effect[];
  readonly end: End;
}

interface State {
  readonly pc: number;
  readonly stack: Words;
  readonly assumed: Path["assumed"];
  readonly effects: readonly Effect[];
}

const MASK = 2n ** 256n;

/** Returns all paths through the code. `named` gives names to the immediate words of pushes, by their position. */
export function explore(code: Uint8Array, named: ReadonlyMap<number, string> = new Map()): Path[] {
  const paths: Path[] = [];
  const open: State[] = [{ pc: 0, stack: [], assumed: {}, effects: [] }];
  for (let state = open.pop(); state; state = open.pop()) {
    const next = step(code, named, state);
    if ("end" in next) paths.push(next);
    else open.push(...next.states);
  }
  return paths;
}

function step(
  code: Uint8Array,
  named: ReadonlyMap<number, string>,
  state: State,
): Path | { readonly states: readonly State[] } {
  const { pc, assumed, effects } = state;
  const opcode = code[pc];
  const stack = [...state.stack];
  const pop = (count: number): Word[] =>
    Array.from({ length: count }, () => {
      const word = stack.pop();
      if (word === undefined) throw new Error(`stack underflow at ${pc}`);
      return word;
    });
  const go = (change: Partial<State> = {}) => ({
    states: [{ pc: pc + 1, assumed, effects, ...change, stack: change.stack ?? stack }],
  });
  const push = (word: Word) => go({ stack: [...stack, word] });
  const act = (effect: Effect, pushed: Words = []) =>
    go({ effects: [...effects, effect], stack: [...stack, ...pushed] });
  const end = (kind: End["kind"], args: Words): Path => ({ assumed, effects, end: { kind, args } });

  if (opcode === undefined) return end("stop", []);
  if (opcode >= 0x60 && opcode <= 0x7f) {
    const size = opcode - 0x5f;
    const value = code
      .slice(pc + 1, pc + 1 + size)
      .reduce((sum, byte) => sum * 256n + BigInt(byte), 0n);
    return go({ pc: pc + 1 + size, stack: [...stack, named.get(pc) ?? value % MASK] });
  }
  if (opcode >= 0x80 && opcode <= 0x8f) {
    const word = stack.at(-1 - (opcode - 0x80));
    if (word === undefined) throw new Error(`stack underflow at ${pc}`);
    return push(word);
  }
  if (opcode >= 0x90 && opcode <= 0x9f) {
    const other = stack.length - 2 - (opcode - 0x90);
    const [top, below] = [stack.at(-1), stack[other]];
    if (top === undefined || below === undefined) throw new Error(`stack underflow at ${pc}`);
    stack[stack.length - 1] = below;
    stack[other] = top;
    return go();
  }
  switch (opcode) {
    case 0x00:
      return end("stop", []);
    case 0x36:
      return push("calldatasize");
    case 0x37:
      return act({ kind: "copy", of: "calldata", args: pop(3) });
    case 0x39:
      return act({ kind: "copy", of: "code", args: pop(3) });
    case 0x3d: {
      const calls = effects.filter(({ kind }) => kind === "delegatecall").length;
      // No data is returned before the first call.
      return push(calls === 0 ? 0n : `returndatasize ${calls}`);
    }
    case 0x3e:
      return act({ kind: "copy", of: "returndata", args: pop(3) });
    case 0x57: {
      const [target, condition] = pop(2);
      return jump(code, { target, condition, pc, stack, assumed, effects });
    }
    case 0x5a:
      return push(`gas at ${pc}`);
    case 0x5b:
      return go();
    case 0xf3:
      return end("return", pop(2));
    case 0xf4: {
      const result = `result ${effects.filter(({ kind }) => kind === "delegatecall").length + 1}`;
      return act({ kind: "delegatecall", args: pop(6), result }, [result]);
    }
    case 0xfd:
      return end("revert", pop(2));
    default:
      throw new Error(`unknown opcode 0x${opcode.toString(16)} at ${pc}`);
  }
}

function jump(
  code: Uint8Array,
  {
    target,
    condition,
    ...state
  }: State & { readonly target: Word | undefined; readonly condition: Word | undefined },
): { readonly states: readonly State[] } {
  const { pc, assumed } = state;
  if (typeof target !== "bigint" || code[Number(target)] !== 0x5b) {
    throw new Error(`jump at ${pc} to no known destination`);
  }
  if (target <= BigInt(pc)) throw new Error(`jump backwards at ${pc}`);
  if (condition === undefined) throw new Error(`stack underflow at ${pc}`);
  const taken = { ...state, pc: Number(target) };
  const passed = { ...state, pc: pc + 1 };
  if (typeof condition === "bigint") return { states: [condition === 0n ? passed : taken] };
  const known = assumed[condition];
  if (known) return { states: [known === "zero" ? passed : taken] };
  return {
    states: [
      { ...passed, assumed: { ...assumed, [condition]: "zero" } },
      { ...taken, assumed: { ...assumed, [condition]: "not zero" } },
    ],
  };
}
