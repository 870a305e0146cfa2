/**
 * The number of new blocks to ask for in one section. A block that does not exist yet costs a request, and a block that is
 * not asked for waits for the next poll: so the size is the number of blocks that the chain has produced since its head was
 * last seen, at the pace at which it produced them before.
 */

/** How far sections reach. */
export interface SizeLimits {
  /** Fewest blocks to ask for; more than one on a chain that finds out by itself how many are new. */
  readonly blocksMin: number;
  /** Most blocks of a section, if the section has all of them. */
  readonly blocksMax: number;
}

export interface SectionSize {
  /** Returns the number of blocks to ask for above a height. */
  next(after: bigint, nowMs: number): number;
  /** Reports the blocks that were found, none included, and whether they are behind the chain's head. */
  found(section: {
    readonly found: number;
    readonly isFull: boolean;
    readonly isBehind: boolean;
    /** Whether they are behind by far: then there are many more, for certain. */
    readonly isOld: boolean;
    /** The newest block, found now or before. */
    readonly newest: bigint;
  }): void;
  /** Reports that a section could not be read: the next ones are smaller, so that a slow node can answer one in time. */
  failed(): void;
  /** Returns the most blocks that a section may have now. */
  most(): number;
}

/** Sections in a row with as many blocks as were asked for, before more are asked for: the chain may have become faster. */
const FULL_BEFORE_GROWTH = 16;
/** Growth of the next section by one that is behind by far: after an outage few sections are small. */
const GROWTH_IF_OLD = 4;
/** Time over which the pace is measured. */
const PACE_MS = 30_000;
/** Time between two questions from which the pace counts. A notice of a block starts a poll sooner, for that block. */
const GAP_MIN_MS = 400;

/** Creates the size of one chain's sections. It can forget all that it has learned. */
export function createSectionSize({ blocksMin, blocksMax }: SizeLimits): SectionSize {
  /** Blocks to ask for at least. */
  let size = 1;
  let most = blocksMax;
  let full = 0;
  let asked = 1;
  let askedAtMs = -Infinity;
  /** The chain's head as it was seen lately, oldest first. */
  const heads: { readonly number: bigint; readonly atMs: number }[] = [];

  /** Returns the number of blocks that exist above a height, as far as the pace tells; null without a pace. */
  function predict(after: bigint, nowMs: number): number | null {
    const [oldest] = heads;
    const newest = heads.at(-1);
    if (!oldest || !newest || newest.atMs <= oldest.atMs) return null;
    const perMs = Number(newest.number - oldest.number) / (newest.atMs - oldest.atMs);
    return Math.floor(perMs * (nowMs - newest.atMs)) - Number(after - newest.number);
  }

  function seeHead(number: bigint, atMs: number): void {
    heads.push({ number, atMs });
    while (heads[1] && heads[1].atMs < atMs - PACE_MS) heads.shift();
  }

  return {
    next(after, nowMs) {
      const predicted = nowMs - askedAtMs < GAP_MIN_MS ? null : predict(after, nowMs);
      askedAtMs = nowMs;
      asked = Math.max(Math.min(Math.max(predicted ?? 0, size), most), blocksMin);
      return asked;
    },
    found({ found, isFull, isBehind, isOld, newest }) {
      most = Math.min(most * 2, blocksMax);
      full = isFull ? full + 1 : 0;
      if (!isFull) {
        seeHead(newest, askedAtMs);
        size = Math.max(1, found);
      } else if (isBehind) size = asked * (isOld ? GROWTH_IF_OLD : 2);
      else if (full % FULL_BEFORE_GROWTH === 0) size = asked + Math.ceil(asked / 4);
      size = Math.min(size, blocksMax);
    },
    failed() {
      most = Math.max(1, Math.floor(most / 2));
    },
    most: () => most,
  };
}
