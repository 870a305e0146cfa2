/** What goes wrong in a run, and how often: drawn anew for each seed, so that seeds differ in what they are about. */
import type { Dice } from "./random.ts";

/** Probabilities per occasion, unless said otherwise. */
export interface Faults {
  /** A node's answer that does not come. */
  readonly nodeError: number;
  /** The node did it, or knows it, and the answer is lost. */
  readonly nodeAnswerLost: number;
  /** A node says that it accepted a transaction and drops it. */
  readonly nodeDropsSend: number;
  /** A node says null for a receipt that exists. */
  readonly receiptFlips: number;
  /** How long nodes take to see a block, in seconds at most. */
  readonly nodeLagS: number;
  /** Blocks by which a node stays behind the chain at most. */
  readonly nodeBehind: number;
  /** A reorganisation after a block. */
  readonly reorg: number;
  readonly reorgDepthMax: number;
  /** A transaction of an abandoned block is not seen again. */
  readonly reorgLoses: number;
  /** A block leaves a waiting transaction out. */
  readonly blockIgnores: number;
  /** The pool forgets what waits, per block. */
  readonly poolForgets: number;
  /** Finality stands still for a while, per block. */
  readonly finalityStalls: number;
  /** The fee of blocks jumps, per block. */
  readonly feeSpike: number;
  /** A process ends at a step. */
  readonly kill: number;
  /** A process freezes at a step, and another takes over meanwhile. */
  readonly freeze: number;
  /** A query fails. */
  readonly queryLost: number;
  readonly queryKill: number;
  /** A commit fails, or its answer is lost, or the process dies under it. */
  readonly commitLost: number;
  readonly commitAnswerLost: number;
  readonly commitKill: number;
  /** A wake-up does not arrive. */
  readonly wakeLost: number;
  /** Lanes have little gas at first, and get more only later. */
  readonly poorLanes: boolean;
  /** Inventory is short at first. */
  readonly shortInventory: boolean;
  /** Each role runs twice. */
  readonly isCrowded: boolean;
  /** Deliveries have a minute, so that locks go back. */
  readonly isHasty: boolean;
}

export const NO_FAULTS: Faults = {
  nodeError: 0,
  nodeAnswerLost: 0,
  nodeDropsSend: 0,
  receiptFlips: 0,
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

/** The most of each fault that a run is to stand. */
const MOST = {
  nodeError: 0.2,
  nodeAnswerLost: 0.1,
  nodeDropsSend: 0.3,
  receiptFlips: 0.3,
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

/** Faults of a seed: about one run in eight has a single kind at its most, the others a mixture. */
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

/** Which routes of a token between the chains there are, the preferred first. */
export const ROUTE_CHOICES = [
  ["SWIFT"],
  ["FAST_MCTP"],
  ["FAST_MCTP", "SWIFT"],
  ["SWIFT", "FAST_MCTP"],
] as const;
export type RouteChoice = (typeof ROUTE_CHOICES)[number];

/** What goes wrong with the bridge; probabilities per request unless said otherwise. */
export interface BridgeFaults {
  /** Its attestation service does not answer. */
  readonly fails: number;
  /** It did what was asked, and the answer is lost. */
  readonly answerLost: number;
  /** It begins to be away for a while. */
  readonly outage: number;
  /** It asks to be left alone. */
  readonly limits: number;
  /** It knows nothing of a transaction that it knew. */
  readonly forgets: number;
  /** It vouches for what was not burned, per message. */
  readonly lies: number;
  /** How long it takes to see a burn, in seconds at most. */
  readonly delayS: number;
  /** What it keeps at least for going fast, in hundredths of a basis point; null where that is not offered. */
  readonly fastFee: number | null;
  /** What may be sent fast in the whole run, in base units; null for as much as one likes. */
  readonly allowance: bigint | null;
  /** Blocks of the destination for which a fast attestation can be used. */
  readonly expiryBlocks: number;
  /** Somebody else hands a message in, per attestation. */
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

/** What a seed has of the bridge: in two seeds of five it is not there, and everything is as it was before it. */
export function drawRoutes(dice: Dice): RouteChoice {
  return dice.chance(0.4) ? ROUTE_CHOICES[0] : dice.pick(ROUTE_CHOICES.slice(1));
}

/**
 * What the configuration says for a while instead, from some moment on: another order, fewer routes, or none. Null where
 * it stays as it is.
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

/** Whether a seed has Solana beside the EVM chains: every third does. */
export function drawSolana(dice: Dice): boolean {
  return dice.chance(1 / 3);
}

/** How the pools move; prices as parts of what is fair, times between two moves in seconds. */
export interface MarketMoves {
  /** The longest time between two moves. */
  readonly everyS: number;
  /** How far the pool is from what is fair at most, as a rule. */
  readonly spread: number;
  /** The pool is moved far away, per move. */
  readonly shove: number;
  /** How far what is fair moves at most in one move. */
  readonly drift: number;
}

/** How the pools of a seed move; null where there are no routes through them, as in two seeds of three. */
export function drawMarket(dice: Dice): MarketMoves | null {
  if (!dice.chance(0.33)) return null;
  return {
    everyS: dice.pick([10, 30, 120]),
    spread: dice.pick([0, 0.002, 0.008, 0.02]),
    shove: dice.chance(0.5) ? dice.next() * 0.4 : 0,
    drift: dice.pick([0, 0.001, 0.005, 0.03]),
  };
}

/** Pools that stand still. */
export const STILL_MARKET: MarketMoves = { everyS: 3_600, spread: 0, shove: 0, drift: 0 };

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
