/** Seeded randomness, so that a failed run can be repeated. Not for secrets. */

export interface Random {
  /** Returns the next number in [0, 1). */
  next(): number;
  /** Draws once and returns true with this probability. */
  happens(probability: number): boolean;
  /** Returns an integer from 0 up to, but without, `count`. */
  below(count: number): number;
}

/** Returns a generator (mulberry32); the same seed gives the same numbers. */
export function createRandom(seed: number): Random {
  let state = seed >>> 0;
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 0x1_0000_0000;
  };
  return {
    next,
    happens: (probability) => next() < probability,
    below: (count) => Math.floor(next() * count),
  };
}
