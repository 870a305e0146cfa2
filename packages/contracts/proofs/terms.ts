/**
 * Terms of the symbolic executor: 256-bit words and arrays of them, written in SMT-LIB (theories of bit vectors and
 * arrays), and the questions about them, which z3 answers. Equal terms have the same name.
 */
import { spawnSync } from "node:child_process";

/** A word: a constant, or the name of a term. */
export type Word = bigint | string;

const SIZE = 2n ** 256n;

interface Definition {
  /** Of SMT-LIB. */
  readonly line: string;
  readonly uses: readonly Word[];
}

const definitions = new Map<string, Definition>();
const names = new Map<string, string>();
const hashes = new Map<string, readonly Word[]>();

const text = (word: Word): string => (typeof word === "bigint" ? `(_ bv${word} 256)` : word);

/** Declares an unknown word. */
export function unknown(name: string): string {
  definitions.set(name, { line: `(declare-const ${name} (_ BitVec 256))`, uses: [] });
  return name;
}

/** Declares a storage of which nothing is known. */
export function unknownStorage(name: string): string {
  const sort = "(Array (_ BitVec 256) (_ BitVec 256))";
  definitions.set(name, { line: `(declare-const ${name} ${sort})`, uses: [] });
  return name;
}

function define(expression: string, uses: readonly Word[], sort = "(_ BitVec 256)"): string {
  const known = names.get(expression);
  if (known !== undefined) return known;
  const name = `t${names.size}`;
  names.set(expression, name);
  definitions.set(name, { line: `(define-fun ${name} () ${sort} ${expression})`, uses });
  return name;
}

const wrap = (value: bigint) => ((value % SIZE) + SIZE) % SIZE;
const signed = (value: bigint) => (value >= SIZE / 2n ? value - SIZE : value);

/** The opcodes that only compute, on constants. */
const COMPUTE: Readonly<Record<string, (a: bigint, b: bigint) => bigint>> = {
  bvadd: (a, b) => wrap(a + b),
  bvmul: (a, b) => wrap(a * b),
  bvsub: (a, b) => wrap(a - b),
  bvudiv: (a, b) => (b === 0n ? 0n : a / b),
  bvurem: (a, b) => (b === 0n ? 0n : a % b),
  bvand: (a, b) => a & b,
  bvor: (a, b) => a | b,
  bvxor: (a, b) => a ^ b,
  bvshl: (a, b) => (b > 255n ? 0n : wrap(a << b)),
  bvlshr: (a, b) => (b > 255n ? 0n : a >> b),
};

/** Bits of a word that are known. */
interface Bits {
  readonly known: bigint;
  readonly value: bigint;
}

const ALL = SIZE - 1n;
const bits = new Map<string, Bits>();
const bitsOf = (word: Word): Bits => {
  if (typeof word === "bigint") return { known: ALL, value: word };
  return bits.get(word) ?? { known: 0n, value: 0n };
};

/** Follows known bits, so that a constant field of a packed slot stays one. */
function knownBits(operator: string, a: Word, b: Word): Bits | null {
  const [x, y] = [bitsOf(a), bitsOf(b)];
  const zeros = (word: Bits) => word.known & ~word.value;
  if (operator === "bvand") {
    return { known: (x.known & y.known) | zeros(x) | zeros(y), value: x.value & y.value };
  }
  if (operator === "bvor") {
    return { known: (x.known & y.known) | x.value | y.value, value: x.value | y.value };
  }
  if (typeof b !== "bigint") return null;
  if (operator === "bvshl" && b < 256n) {
    return { known: ((x.known << b) & ALL) | ((1n << b) - 1n), value: (x.value << b) & ALL };
  }
  if (operator === "bvlshr" && b < 256n) {
    return { known: (x.known >> b) | (ALL & ~(ALL >> b)), value: x.value >> b };
  }
  return null;
}

const SHIFTS: Readonly<Record<string, string>> = { bvmul: "bvshl", bvudiv: "bvlshr" };

export function compute(operator: string, a: Word, b: Word): Word {
  const shift = SHIFTS[operator];
  if (shift !== undefined && operator === "bvmul" && typeof a === "bigint") {
    if (typeof b === "string") return compute(operator, b, a);
  } else if (shift !== undefined && typeof a === "string" && typeof b === "bigint") {
    const isPower = b !== 0n && (b & (b - 1n)) === 0n;
    if (isPower) return compute(shift, a, BigInt(b.toString(2).length - 1));
  }
  const found = knownBits(operator, a, b);
  if (found?.known === ALL) return found.value;
  const word = build(operator, a, b);
  if (found && typeof word === "string") bits.set(word, found);
  return word;
}

const COMMUTES = ["bvadd", "bvmul", "bvand", "bvor", "bvxor"];

function build(operator: string, left: Word, right: Word): Word {
  const isSwapped = COMMUTES.includes(operator) && text(left) > text(right);
  const [a, b] = isSwapped ? [right, left] : [left, right];
  const fold = COMPUTE[operator];
  if (fold && typeof a === "bigint" && typeof b === "bigint") return fold(a, b);
  if (operator === "bvadd" && a === 0n) return b;
  if ((operator === "bvadd" || operator === "bvsub" || operator === "bvor") && b === 0n) return a;
  if (operator === "bvor" && a === 0n) return b;
  if (operator === "bvand" && (a === 0n || b === 0n)) return 0n;
  if (operator === "bvmul" && (a === 0n || b === 0n)) return 0n;
  if (operator === "bvsub" && a === b) return 0n;
  if (operator === "bvmul" && isBit(b)) return choose(b, a);
  if (operator === "bvmul" && isBit(a)) return choose(a, b);
  const expression = `(${operator} ${text(a)} ${text(b)})`;
  return isHard(operator, a, b) ? abstract(expression) : define(expression, [a, b]);
}

const isBit = (word: Word) => typeof word === "string" && (bitsOf(word).known | 1n) === ALL;
const choose = (bit: Word, word: Word) =>
  define(`(ite (= ${text(bit)} ${text(0n)}) ${text(0n)} ${text(word)})`, [bit, word]);

/** Solvers of bit vectors hardly multiply and divide. */
function isHard(operator: string, a: Word, b: Word): boolean {
  if (operator === "bvmul") return typeof a === "string" && typeof b === "string";
  if (operator !== "bvudiv" && operator !== "bvurem") return false;
  return typeof b === "string" || b === 0n || (b & (b - 1n)) !== 0n;
}

/** Returns an unknown word for the expression: a proof that holds for every word holds for the right one. */
function abstract(expression: string): string {
  const known = names.get(expression);
  if (known !== undefined) return known;
  const name = unknown(`a${names.size}`);
  names.set(expression, name);
  return name;
}

const COMPARE: Readonly<Record<string, (a: bigint, b: bigint) => boolean>> = {
  bvult: (a, b) => a < b,
  bvslt: (a, b) => signed(a) < signed(b),
  "=": (a, b) => a === b,
};

/** Returns the word 1 or 0. */
export function compare(operator: string, a: Word, b: Word): Word {
  const fold = COMPARE[operator];
  if (fold && typeof a === "bigint" && typeof b === "bigint") return fold(a, b) ? 1n : 0n;
  if (a === b) return operator === "=" ? 1n : 0n;
  if (operator === "=" && text(a) > text(b)) return compare(operator, b, a);
  const word = define(`(ite (${operator} ${text(a)} ${text(b)}) ${text(1n)} ${text(0n)})`, [a, b]);
  bits.set(word, { known: ALL ^ 1n, value: 0n });
  return word;
}

/** Returns 32 bytes, each of them a byte of a word. */
export function join(bytes: readonly { readonly of: Word; readonly at: number }[]): Word {
  const [first] = bytes;
  if (first && bytes.every(({ of, at }, index) => of === first.of && at === index)) return first.of;
  const parts = bytes.map(({ of, at }) => {
    if (typeof of === "bigint") return `(_ bv${(of >> BigInt(8 * (31 - at))) & 255n} 8)`;
    return `((_ extract ${8 * (31 - at) + 7} ${8 * (31 - at)}) ${of})`;
  });
  if (bytes.every(({ of }) => typeof of === "bigint")) {
    return bytes.reduce(
      // CAST: the line above.
      (sum, { of, at }) => (sum << 8n) | (((of as bigint) >> BigInt(8 * (31 - at))) & 255n),
      0n,
    );
  }
  return define(
    `(concat ${parts.join(" ")})`,
    bytes.map(({ of }) => of),
  );
}

/**
 * Returns the hash of whole words, of which only this is known: different words have different hashes, and hashes are far
 * from each other and from the numbers of slots, since arrays lie behind them. So each is a multiple of 2^64, and not zero.
 */
export function hash(words: readonly Word[]): string {
  const expression = `hash of ${words.map(text).join(" ")}`;
  const known = names.get(expression);
  if (known !== undefined) return known;
  const name = `h${names.size}`;
  names.set(expression, name);
  const line = [
    `(declare-const id${name} (_ BitVec 192))`,
    `(define-fun ${name} () (_ BitVec 256) (concat id${name} (_ bv0 64)))`,
  ].join("\n");
  definitions.set(name, { line, uses: words });
  hashes.set(name, words);
  return name;
}

const stores = new Map<
  string,
  { readonly below: string; readonly key: Word; readonly value: Word }
>();

/** Returns whether keys are known to differ: a hash is no number, and hashes of other constants differ. */
function differ(a: Word, b: Word): boolean {
  if (typeof a === "bigint" && typeof b === "bigint") return a !== b;
  const [x, y] = [a, b].map((word) => (typeof word === "bigint" ? [] : hashes.get(word)));
  if (!x || !y) return false;
  return x.length !== y.length || x.some((word, at) => differ(word, y[at] ?? 0n));
}

export function load(storage: string, key: Word): Word {
  const top = stores.get(storage);
  if (top?.key === key) return top.value;
  if (top && differ(top.key, key)) return load(top.below, key);
  return define(`(select ${storage} ${text(key)})`, [storage, key]);
}

export function store(storage: string, key: Word, value: Word): string {
  const sort = "(Array (_ BitVec 256) (_ BitVec 256))";
  const expression = `(store ${storage} ${text(key)} ${text(value)})`;
  const name = define(expression, [storage, key, value], sort);
  stores.set(name, { below: storage, key, value });
  return name;
}

function axiomsOf(used: readonly string[]): string[] {
  return used.flatMap((one, index) => [
    `(assert (distinct id${one} (_ bv0 192)))`,
    ...used.slice(index + 1).map((other) => {
      const [a, b] = [hashes.get(one) ?? [], hashes.get(other) ?? []];
      const apart = `(distinct id${one} id${other})`;
      if (a.length !== b.length) return `(assert ${apart})`;
      const same = a.map((word, at) => `(= ${text(word)} ${text(b[at] ?? 0n)})`).join(" ");
      return `(assert (ite (and ${same}) (= id${one} id${other}) ${apart}))`;
    }),
  ]);
}

/** Resources of z3 for one question, counted by itself: the same on every machine. The hardest so far takes 6 million. */
const RESOURCES = { path: 20_000_000, proof: 1_000_000_000 };

/** Asks whether all of the words can be other than zero at once. */
function ask(conditions: readonly Word[], resources: number): string {
  const needed = new Set<string>();
  const visit = (word: Word): void => {
    if (typeof word === "bigint" || needed.has(word)) return;
    definitions.get(word)?.uses.forEach(visit);
    needed.add(word);
  };
  conditions.forEach(visit);
  const lines = [...needed].map((name) => definitions.get(name)?.line ?? "");
  const used = [...needed].filter((name) => hashes.has(name));
  const asserts = conditions.map((word) => `(assert (distinct ${text(word)} ${text(0n)}))`);
  const input = ["(set-logic QF_ABV)", ...lines, ...axiomsOf(used), ...asserts, "(check-sat)"].join(
    "\n",
  );
  const { error, stdout } = spawnSync("z3", ["-in", `rlimit=${resources}`], {
    input,
    encoding: "utf8",
  });
  if (error) throw new Error("z3 is missing: apt-get install z3", { cause: error });
  const [answer = ""] = stdout.trim().split("\n");
  if (/^(sat|unsat|unknown)$/.test(answer)) return answer;
  throw new Error(`z3: ${answer.slice(0, 300)}`);
}

/** Returns false if the words cannot all be other than zero. A path of which the solver knows nothing is followed. */
export function isPossible(conditions: readonly Word[]): boolean {
  if (conditions.includes(0n)) return false;
  return ask(conditions, RESOURCES.path) !== "unsat";
}

/** Returns whether it is proved that the words cannot all be other than zero. */
export function isRefuted(conditions: readonly Word[]): boolean {
  return conditions.includes(0n) || ask(conditions, RESOURCES.proof) === "unsat";
}
