/** Limits of the contracts that make large balances arrive in parts, and swaps wait for a pool's average. */
import { NO_POOL_LIMITS, type PoolLimits } from "../fake-chain/pool.ts";
import type { Dice } from "./random.ts";
import { COIN_USD, DAILY_CAP, ETHER, MINIMUM, UNIT } from "./stage.ts";

export interface Limits {
  readonly poolLimits: PoolLimits;
  /** The most that one message of the bridge may burn, in base units. */
  readonly burnLimit: bigint;
}

export const NO_LIMITS: Limits = { poolLimits: NO_POOL_LIMITS, burnLimit: DAILY_CAP };

/** Draws the limits of a seed, each in one seed of two; a day of the daily cap lasts minutes. */
export function drawLimits(
  dice: Dice,
  {
    coinUnit,
  }: { /** The smallest whole deposit of coin, in base units. */ readonly coinUnit: bigint },
): Limits {
  // Payments have up to 50 units, so that many need parts.
  const draw = () => BigInt(6 + dice.int(30));
  const isCapped = dice.chance(0.5);
  const caps = { coin: draw() * coinUnit, token: draw() * MINIMUM };
  const windowS = BigInt(60 + dice.int(240));
  const poolLimits = { windowS, toleranceBps: 300n, caps };
  // Coin is swapped before it is burned; a limit far below its deposits would mean hundreds of parts.
  const ofCoin = (coinUnit * COIN_USD * UNIT) / ETHER ** 2n;
  const burnUnit = ofCoin > MINIMUM ? ofCoin : MINIMUM;
  const burnLimit = dice.chance(0.5) ? draw() * burnUnit : DAILY_CAP;
  return { poolLimits: isCapped ? poolLimits : NO_POOL_LIMITS, burnLimit };
}
