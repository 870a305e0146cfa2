/**
 * A symbolic executor for the bytecode of whole contracts. It follows every path that the solver holds possible; loops run
 * as often as their conditions allow. Offsets in memory and destinations of jumps must be constants: code that computes
 * them from unknown words ends the execution with an error, as an unknown opcode does.
 *
 * Assumes that other contracts hand back one word, and that gas is unlimited. A call of a contract that may write can change
 * every slot of storage, by reentering.
 */
import {
  compare,
  compute,
  hash,
  isPossible,
  join,
  load,
  store,
  unknown,
  unknownStorage,
} from "./terms.ts";
import type { Word } from "./terms.ts";

interface Byte {
  readonly of: Word;
  readonly at: number;
}

export interface Write {
  readonly key: Word;
  readonly value: Word;
  /** Value of the slot before the write. */
  readonly before: Word;
}

export interface Path {
  readonly end: "stop" | "return" | "revert" | "invalid";
  /** Words that are not zero on this path. */
  readonly conditions: readonly Word[];
  /** The bytes that a return or revert hands back. */
  readonly data: readonly Byte[];
  readonly storage: string;
  readonly writes: readonly Write[];
  /** The words of each hash that was computed. */
  readonly hashed: readonly (readonly Word[])[];
}

export interface Call {
  readonly code: Uint8Array;
  /** Unknown words in the code, by the position of their push. */
  readonly immutables: ReadonlyMap<number, string>;
  readonly calldata: readonly Byte[];
  readonly storage: string;
  readonly conditions: readonly Word[];
  /** Unknown if it is not given. */
  readonly timestamp?: bigint;
}

interface State {
  pc: number;
  stack: Word[];
  memory: Map<number, Byte>;
  storage: string;
  conditions: Word[];
  writes: Write[];
  hashed: (readonly Word[])[];
  returned: Byte[];
}

const ZERO: Byte = { of: 0n, at: 0 };
const STEPS_MAX = 200_000;
let fresh = 0;

/** Returns a word as bytes. */
export const bytesOf = (word: Word): Byte[] =>
  Array.from({ length: 32 }, (_, at) => ({ of: word, at }));

export function explore(call: Call): Path[] {
  const paths: Path[] = [];
  const { storage } = call;
  const conditions = [...call.conditions];
  const none = { pc: 0, stack: [], memory: new Map(), writes: [], hashed: [], returned: [] };
  const open: State[] = [{ ...none, storage, conditions }];
  for (let state = open.pop(); state; state = open.pop()) {
    const next = run(call, state);
    if (Array.isArray(next)) open.push(...next);
    else paths.push(next);
  }
  return paths;
}

function concrete(word: Word | undefined, what: string): number {
  if (typeof word !== "bigint") throw new Error(`${what} is not a constant`);
  return Number(word);
}

const not = (word: Word) => compare("=", word, 0n);

/** Runs a state to its end or its next fork. */
function run(call: Call, state: State): Path | State[] {
  for (let steps = 0; steps < STEPS_MAX; ++steps) {
    const opcode = call.code[state.pc] ?? 0;
    if (opcode === 0x57) {
      const [target, condition] = [state.stack.pop(), state.stack.pop()];
      if (condition === undefined) throw new Error("stack underflow");
      const to = concrete(target, "the destination of a jump");
      if (typeof condition === "bigint") {
        state.pc = condition === 0n ? state.pc + 1 : to;
        continue;
      }
      return fork(state, condition, to);
    }
    const end = step(call, state, opcode);
    if (end) return end;
  }
  throw new Error("a path without an end");
}

function fork(state: State, condition: Word, target: number): State[] {
  const branch = (pc: number, word: Word): State[] => {
    const conditions = state.conditions.includes(word)
      ? state.conditions
      : [...state.conditions, word];
    if (state.conditions.includes(not(word)) || !isPossible(conditions)) return [];
    const { stack, memory, writes, hashed } = state;
    return [
      {
        ...state,
        pc,
        conditions,
        stack: [...stack],
        memory: new Map(memory),
        writes: [...writes],
        hashed: [...hashed],
      },
    ];
  };
  return [...branch(state.pc + 1, not(condition)), ...branch(target, condition)];
}

const BINARY: Readonly<Record<number, string>> = {
  0x01: "bvadd",
  0x02: "bvmul",
  0x03: "bvsub",
  0x04: "bvudiv",
  0x06: "bvurem",
  0x16: "bvand",
  0x17: "bvor",
  0x18: "bvxor",
};

/** Words that a call cannot change and the code only reads. */
const READ: Readonly<Record<number, string>> = {
  0x30: "address",
  0x33: "caller",
  0x34: "value",
  0x42: "timestamp",
  0x46: "chainid",
  0x47: "selfbalance",
};

function step(call: Call, state: State, opcode: number): Path | null {
  const { stack, memory } = state;
  const pop = (): Word => {
    const word = stack.pop();
    if (word === undefined) throw new Error("stack underflow");
    return word;
  };
  const read = (offset: number, size: number) =>
    Array.from({ length: size }, (_, index) => memory.get(offset + index) ?? ZERO);
  const write = (offset: number, bytes: readonly Byte[]) => {
    for (const [index, byte] of bytes.entries()) memory.set(offset + index, byte);
  };
  const copy = (source: (offset: number) => Byte) => {
    const [to, from, size] = [pop(), pop(), pop()].map((word) => concrete(word, "a copy"));
    if (to === undefined || from === undefined || size === undefined) return;
    write(
      to,
      Array.from({ length: size }, (_, index) => source(from + index)),
    );
  };
  const end = (kind: Path["end"], data: readonly Byte[]): Path => {
    const { conditions, storage, writes, hashed } = state;
    return { end: kind, conditions, data, storage, writes, hashed };
  };
  const { pc } = state;
  state.pc += 1;
  if (opcode === 0x5f) throw new Error("PUSH0");
  if (opcode >= 0x60 && opcode <= 0x7f) {
    const size = opcode - 0x5f;
    const bytes = call.code.slice(pc + 1, pc + 1 + size);
    state.pc += size;
    stack.push(
      call.immutables.get(pc) ?? bytes.reduce((sum, byte) => sum * 256n + BigInt(byte), 0n),
    );
    return null;
  }
  if (opcode >= 0x80 && opcode <= 0x8f) {
    stack.push(stack.at(0x7f - opcode) ?? 0n);
    return null;
  }
  if (opcode >= 0x90 && opcode <= 0x9f) {
    const other = stack.length - 2 - (opcode - 0x90);
    [stack[stack.length - 1], stack[other]] = [stack[other] ?? 0n, stack.at(-1) ?? 0n];
    return null;
  }
  const operator = BINARY[opcode];
  if (operator !== undefined) {
    stack.push(compute(operator, pop(), pop()));
    return null;
  }
  const name = READ[opcode];
  if (name !== undefined) {
    stack.push(name === "timestamp" ? (call.timestamp ?? name) : name);
    return null;
  }
  switch (opcode) {
    case 0x00:
      return end("stop", []);
    case 0x0a: {
      const [base, exponent] = [pop(), pop()];
      if (typeof base !== "bigint" || typeof exponent !== "bigint") throw new Error("a power");
      stack.push(base ** exponent % 2n ** 256n);
      return null;
    }
    case 0x10:
      stack.push(compare("bvult", pop(), pop()));
      return null;
    case 0x11: {
      const [a, b] = [pop(), pop()];
      stack.push(compare("bvult", b, a));
      return null;
    }
    case 0x12:
      stack.push(compare("bvslt", pop(), pop()));
      return null;
    case 0x13: {
      const [a, b] = [pop(), pop()];
      stack.push(compare("bvslt", b, a));
      return null;
    }
    case 0x14:
      stack.push(compare("=", pop(), pop()));
      return null;
    case 0x15:
      stack.push(not(pop()));
      return null;
    case 0x19:
      stack.push(compute("bvxor", pop(), 2n ** 256n - 1n));
      return null;
    case 0x1b: {
      const [shift, word] = [pop(), pop()];
      stack.push(compute("bvshl", word, shift));
      return null;
    }
    case 0x1c: {
      const [shift, word] = [pop(), pop()];
      stack.push(compute("bvlshr", word, shift));
      return null;
    }
    case 0x20: {
      const [offset, size] = [concrete(pop(), "a hash"), concrete(pop(), "a hash")];
      const bytes = read(offset, size);
      // Bytes behind the last whole word make it a hash of more words than any that has none.
      const words = Array.from({ length: Math.ceil(size / 32) }, (_, index) =>
        join(Array.from({ length: 32 }, (_unused, at) => bytes[32 * index + at] ?? ZERO)),
      );
      if (size % 32 !== 0) words.push(BigInt(size));
      state.hashed.push(words);
      stack.push(hash(words));
      return null;
    }
    case 0x35: {
      const offset = concrete(pop(), "an offset in calldata");
      stack.push(join(Array.from({ length: 32 }, (_, at) => call.calldata[offset + at] ?? ZERO)));
      return null;
    }
    case 0x36:
      stack.push(BigInt(call.calldata.length));
      return null;
    case 0x37:
      copy((offset) => call.calldata[offset] ?? ZERO);
      return null;
    case 0x39:
      copy((offset) => ({ of: BigInt(call.code[offset] ?? 0), at: 31 }));
      return null;
    case 0x3b:
      pop();
      stack.push(unknown(`codesize${fresh++}`));
      return null;
    case 0x3d:
      stack.push(BigInt(state.returned.length));
      return null;
    case 0x3e:
      copy((offset) => state.returned[offset] ?? ZERO);
      return null;
    case 0x50:
      pop();
      return null;
    case 0x51:
      stack.push(join(read(concrete(pop(), "an offset in memory"), 32)));
      return null;
    case 0x52: {
      const offset = concrete(pop(), "an offset in memory");
      write(offset, bytesOf(pop()));
      return null;
    }
    case 0x53: {
      const offset = concrete(pop(), "an offset in memory");
      write(offset, [{ of: pop(), at: 31 }]);
      return null;
    }
    case 0x54:
      stack.push(load(state.storage, pop()));
      return null;
    case 0x55: {
      const [key, value] = [pop(), pop()];
      state.writes.push({ key, value, before: load(state.storage, key) });
      state.storage = store(state.storage, key, value);
      return null;
    }
    case 0x56:
      state.pc = concrete(pop(), "the destination of a jump");
      return null;
    case 0x5a:
      stack.push(2n ** 60n);
      return null;
    case 0x5b:
      return null;
    case 0xa0:
    case 0xa1:
    case 0xa2:
    case 0xa3:
    case 0xa4:
      for (let count = opcode - 0xa0 + 2; count > 0; --count) pop();
      return null;
    case 0xf1:
    case 0xfa: {
      callOut(state, { pop, write, isStatic: opcode === 0xfa });
      return null;
    }
    case 0xf3:
    case 0xfd: {
      const [offset, size] = [concrete(pop(), "an end"), concrete(pop(), "an end")];
      return end(opcode === 0xf3 ? "return" : "revert", read(offset, size));
    }
    case 0xfe:
      return end("invalid", []);
    default:
      throw new Error(`unknown opcode 0x${opcode.toString(16)} at ${pc}`);
  }
}

interface Reach {
  readonly pop: () => Word;
  readonly write: (offset: number, bytes: readonly Byte[]) => void;
  readonly isStatic: boolean;
}

function callOut(state: State, { pop, write, isStatic }: Reach): void {
  const args = Array.from({ length: isStatic ? 6 : 7 }, pop);
  const [offset, size] = args.slice(-2).map((word) => concrete(word, "the place of a result"));
  const number = fresh++;
  const failed = unknown(`failed${number}`);
  state.returned = bytesOf(unknown(`returned${number}`));
  write(offset ?? 0, state.returned.slice(0, size));
  if (!isStatic) state.storage = unknownStorage(`storage${number}`);
  state.stack.push(not(failed));
}

for (const name of Object.values(READ)) unknown(name);
