/** The faults of a run and their frequency, drawn for each seed, so that seeds stress different parts. */
import type { Dice } from "./random.ts";

/** Probabilities per occasion, unless said otherwise. */
export interface Faults {
  /** A node does not answer. */
  readonly nodeError: number;
  /** The node handles the request, and its answer is lost. */
  readonly nodeAnswerLost: number;
  /** A node accepts a transaction and drops it. */
  readonly nodeDropsSend: number;
  /** A node answers null for a receipt that exists. */
  readonly receiptFlips: number;
  /** A section ends early, or the server that answers does not have its newest blocks yet. */
  readonly sectionCut: number;
  /** A section is read from a server on an orphaned fork, or one that follows the chain with a delay. */
  readonly sectionStale: number;
  /** Most seconds that nodes take to see a block. */
  readonly nodeLagS: number;
  /** Most blocks by which a node lags. */
  readonly nodeBehind: number;
  /** A reorg after a block. */
  readonly reorg: number;
  readonly reorgDepthMax: number;
  /** A transaction of an orphaned block is lost. */
  readonly reorgLoses: number;
  /** A block leaves out a waiting transaction. */
  readonly blockIgnores: number;
  /** The mempool is dropped, per block. */
  readonly poolForgets: number;
  /** Finality stalls for a while, per block. */
  readonly finalityStalls: number;
  /** The base fee jumps, per block. */
  readonly feeSpike: number;
  /** A process ends at a step. */
  readonly kill: number;
  /** A process freezes at a step, and another takes over meanwhile. */
  readonly freeze: number;
  /** A query fails. */
  readonly queryLost: number;
  readonly queryKill: number;
  /** A commit fails, its answer is lost, or the process ends during it. */
  readonly commitLost: number;
  readonly commitAnswerLost: number;
  readonly commitKill: number;
  /** A wake-up is lost. */
  readonly wakeLost: number;
  /** Lanes begin with little gas money, and get more later. */
  readonly poorLanes: boolean;
  /** Inventory is short at first. */
  readonly shortInventory: boolean;
  /** Each role runs twice. */
  readonly isCrowded: boolean;
  /** Payouts have a minute, so that locks are returned. */
  readonly isHasty: boolean;
}

export const NO_FAULTS: Faults = {
  nodeError: 0,
  nodeAnswerLost: 0,
  nodeDropsSend: 0,
  receiptFlips: 0,
  sectionCut: 0,
  sectionStale: 0,
  nodeLagS: 1,
  nodeBehind: 0,
  reorg: 0,
  reorgDepthMax: 0,
  reorgLoses: 0,
  blockIgnores: 0,
  poolForgets: 0,
  finalityStalls: 0,
  feeSpike: 0,
  kill: 0,
  freeze: 0,
  queryLost: 0,
  queryKill: 0,
  commitLost: 0,
  commitAnswerLost: 0,
  commitKill: 0,
  wakeLost: 0,
  poorLanes: false,
  shortInventory: false,
  isCrowded: false,
  isHasty: false,
};

/** The maximum of each fault. */
const MOST = {
  nodeError: 0.2,
  nodeAnswerLost: 0.1,
  nodeDropsSend: 0.3,
  receiptFlips: 0.3,
  sectionCut: 0.5,
  sectionStale: 0.3,
  nodeLagS: 30,
  nodeBehind: 6,
  reorg: 0.25,
  reorgLoses: 0.4,
  blockIgnores: 0.6,
  poolForgets: 0.1,
  finalityStalls: 0.05,
  feeSpike: 0.1,
  kill: 0.02,
  freeze: 0.002,
  queryLost: 0.02,
  queryKill: 0.005,
  commitLost: 0.05,
  commitAnswerLost: 0.05,
  commitKill: 0.02,
  wakeLost: 1,
} as const;
type Rate = keyof typeof MOST;

/** Draws the faults of a seed: about one run in eight has one kind at its maximum, the others a mixture. */
export function drawFaults(dice: Dice): Faults {
  const rates = Object.keys(MOST) as Rate[];
  const single = dice.chance(1 / 8) ? dice.pick(rates) : null;
  const draw = (rate: Rate): number => {
    if (single) return rate === single ? MOST[rate] : NO_FAULTS[rate];
    return dice.chance(0.4) ? dice.next() ** 2 * MOST[rate] : NO_FAULTS[rate];
  };
  const drawn = Object.fromEntries(rates.map((rate) => [rate, draw(rate)])) as Record<Rate, number>;
  return {
    ...drawn,
    nodeBehind: Math.round(drawn.nodeBehind),
    reorgDepthMax: 1 + dice.int(8),
    poorLanes: single === null && dice.chance(0.15),
    shortInventory: single === null && dice.chance(0.2),
    isCrowded: dice.chance(0.25),
    isHasty: dice.chance(0.25),
  };
}

/** Routes of a token between the chains, the preferred first. */
export const ROUTE_CHOICES = [
  ["SWIFT"],
  ["FAST_MCTP"],
  ["FAST_MCTP", "SWIFT"],
  ["SWIFT", "FAST_MCTP"],
] as const;
export type RouteChoice = (typeof ROUTE_CHOICES)[number];

/** Faults of the bridge; probabilities per request unless said otherwise. */
export interface BridgeFaults {
  /** Its attestation service does not answer. */
  readonly fails: number;
  /** It handles the request, and the answer is lost. */
  readonly answerLost: number;
  /** It becomes unavailable for a while. */
  readonly outage: number;
  /** It limits the request rate. */
  readonly limits: number;
  /** It does not know a transaction that it knew before. */
  readonly forgets: number;
  /** It attests something that was not burned, per bridge message. */
  readonly lies: number;
  /** Most seconds that it takes to see a burn. */
  readonly delayS: number;
  /** Minimum fee of a fast transfer, in hundredths of a basis point; null if none is offered. */
  readonly fastFee: number | null;
  /** Fast allowance of the whole run, in base units; null without a limit. */
  readonly allowance: bigint | null;
  /** Blocks of the destination for which a fast attestation is valid. */
  readonly expiryBlocks: number;
  /** Another account submits the bridge message, per attestation. */
  readonly strangers: number;
}

export const NO_BRIDGE_FAULTS: BridgeFaults = {
  fails: 0,
  answerLost: 0,
  outage: 0,
  limits: 0,
  forgets: 0,
  lies: 0,
  delayS: 5,
  fastFee: 130,
  allowance: null,
  expiryBlocks: 100_000,
  strangers: 0,
};

/** Draws the bridge of a seed; two seeds of five have none, and draw nothing else for it. */
export function drawRoutes(dice: Dice): RouteChoice {
  return dice.chance(0.4) ? ROUTE_CHOICES[0] : dice.pick(ROUTE_CHOICES.slice(1));
}

/**
 * Draws the routes that the configuration temporarily has instead: another order, fewer routes, or none. Null without a
 * change.
 */
export function drawChange(
  dice: Dice,
  routes: RouteChoice,
): { readonly at: number; readonly routes: readonly RouteChoice[number][] } | null {
  const isBridged = routes.some((kind) => kind === "FAST_MCTP");
  if (!isBridged || !dice.chance(0.3)) return null;
  const others = [routes.toReversed(), routes.slice(1), routes.slice(0, -1), []];
  return { at: dice.between(0.1, 0.9), routes: dice.pick(others) };
}

/** Returns whether a seed has Solana beside the EVM chains; every third does. */
export function drawSolana(dice: Dice): boolean {
  return dice.chance(1 / 3);
}

/** A payment above the inventory that one address may reserve. */
export interface LargePayment {
  /** Share of the inventory for one address; all other payments together stay below it. */
  readonly addressBps: number;
  /** In minimum deposits. */
  readonly amount: bigint;
  /** Fraction of the time with faults. */
  readonly at: number;
}

/** Draws the large payment of a seed; null in every other seed. */
export function drawLarge(dice: Dice): LargePayment | null {
  if (!dice.chance(0.5)) return null;
  return { addressBps: 5, amount: BigInt(600 + dice.int(1_500)), at: dice.between(0, 0.7) };
}

/** Moves of the pools: prices as fractions of the fair price, times in seconds. */
export interface MarketMoves {
  /** Longest time between two moves. */
  readonly everyS: number;
  /** Largest ordinary distance of the pool from the fair price. */
  readonly spread: number;
  /** The pool moves far away, per move. */
  readonly shove: number;
  /** Largest change of the fair price in one move. */
  readonly drift: number;
}

/** Draws the moves of a seed's pools; null without pool swaps, as in two seeds of three. */
function drawMarket(dice: Dice): MarketMoves | null {
  if (!dice.chance(0.33)) return null;
  return {
    everyS: dice.pick([10, 30, 120]),
    spread: dice.pick([0, 0.002, 0.008, 0.02]),
    shove: dice.chance(0.5) ? dice.next() * 0.4 : 0,
    drift: dice.pick([0, 0.001, 0.005, 0.03]),
  };
}

/** Returns the moves of a run's pools: those drawn, or as its options say; null without pool swaps. */
export function marketOf(
  dice: Dice,
  options: { readonly faults?: Faults; readonly swaps?: boolean },
): MarketMoves | null {
  const drawn = options.faults ? null : drawMarket(dice);
  if (options.swaps === undefined) return drawn;
  return options.swaps ? (drawn ?? STILL_MARKET) : null;
}

/** Pools that do not move. */
const STILL_MARKET: MarketMoves = { everyS: 3_600, spread: 0, shove: 0, drift: 0 };

export function drawBridgeFaults(dice: Dice): BridgeFaults {
  const rate = (most: number) => (dice.chance(0.4) ? dice.next() * most : 0);
  return {
    fails: rate(0.6),
    answerLost: rate(0.4),
    outage: rate(0.1),
    limits: rate(0.05),
    forgets: rate(0.5),
    lies: rate(0.5),
    delayS: dice.chance(0.5) ? dice.int(120) : 2,
    fastFee: dice.pick([130, 130, 0, 1_000, 4_000, 7_000, null]),
    allowance: dice.chance(0.3) ? BigInt(dice.int(60)) * 1_000_000n : null,
    expiryBlocks: dice.chance(0.5) ? 2 + dice.int(8) : 1_000,
    strangers: dice.chance(0.5) ? dice.next() : 0,
  };
}

/** Times in which a chain makes no blocks, and in which its guardian pauses settlements, in milliseconds of the run. */
export interface Outages {
  readonly halt: { readonly from: number; readonly until: number } | null;
  readonly pause: { readonly from: number; readonly until: number } | null;
}

/** Draws the outages of a chain, each in one seed of six; they end before the faults do. */
export function drawOutages(dice: Dice, safetyMs: number): Outages {
  const draw = () => {
    const from = dice.between(0, 0.6 * safetyMs);
    return { from, until: from + dice.between(30_000, 0.3 * safetyMs) };
  };
  return {
    halt: dice.chance(1 / 6) ? draw() : null,
    pause: dice.chance(1 / 6) ? draw() : null,
  };
}

/** Draws the time in which a chain's tokens block recipients, in one seed of four; it ends before the faults do. */
export function drawBlocking(dice: Dice, safetyMs: number): Outages["halt"] {
  if (!dice.chance(1 / 4)) return null;
  const from = dice.between(0, 0.5 * safetyMs);
  return { from, until: from + dice.between(30_000, 0.4 * safetyMs) };
}
