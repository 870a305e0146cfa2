/** Pseudo-random numbers: the same seed gives the same numbers on every machine. */
export interface Dice {
  /** A number from 0 (included) to 1 (excluded). */
  next(): number;
  /** A whole number from 0 to `below` (excluded). */
  int(below: number): number;
  /** A number between two others. */
  between(low: number, high: number): number;
  chance(probability: number): boolean;
  pick<T>(items: readonly T[]): T;
  uuid(): string;
}

/** Creates the generator of a seed; each `purpose` gives an independent one. */
export function createDice(seed: number, purpose = 0): Dice {
  // sfc32, warmed up: public domain, by Chris Doty-Humphrey.
  let [a, b, c, d] = [seed | 0, (seed / 2 ** 32) | 0, purpose | 0, 1];
  const raw = (): number => {
    const t = (a + b + d) | 0;
    d = (d + 1) | 0;
    a = b ^ (b >>> 9);
    b = (c + (c << 3)) | 0;
    c = (c << 21) | (c >>> 11);
    c = (c + t) | 0;
    return t >>> 0;
  };
  for (let i = 0; i < 12; i++) raw();
  const next = () => raw() / 2 ** 32;
  const int = (below: number) => Math.floor(next() * below);
  return {
    next,
    int,
    between: (low, high) => low + next() * (high - low),
    chance: (probability) => next() < probability,
    pick(items) {
      const item = items[int(items.length)];
      if (item === undefined) throw new RangeError("there is nothing to pick from");
      return item;
    },
    uuid() {
      const hex = Array.from({ length: 32 }, () => int(16).toString(16));
      hex[12] = "4";
      hex[16] = "8";
      const text = hex.join("");
      return [
        text.slice(0, 8),
        text.slice(8, 12),
        text.slice(12, 16),
        text.slice(16, 20),
        text.slice(20),
      ].join("-");
    },
  };
}
