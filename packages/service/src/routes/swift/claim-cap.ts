/**
 * The gas price cap of claims. From 72 hours after a lock its refund authority can take it back, and the operator loses the
 * whole delivery. A claim therefore offers more than other calls the less time is left, but at no time more than half of
 * the value at stake.
 */
import type { Config } from "../../config/index.ts";
import { convert } from "../../core/amounts.ts";
import { OperatingError } from "../../core/errors.ts";
import { type Hex32, NATIVE_TOKEN } from "../../core/hex.ts";
import type { Clock } from "../../core/ports.ts";
import type { Db } from "../../db/schema.ts";
import type { Prices } from "../../prices/index.ts";
import { CLAIM_CAP_FACTOR_MAX } from "../../signers/port.ts";
import type { LaneTransaction } from "../../transactions/index.ts";
import { getDelivery } from "./store.ts";

const HOUR_S = 3_600n;

/** Multiples of the chain's cap by the age of the lock, the oldest first: the stages of the alerts on overdue claims. */
const STAGES = [
  { afterS: 48n * HOUR_S, factor: CLAIM_CAP_FACTOR_MAX },
  { afterS: 24n * HOUR_S, factor: 4n },
  { afterS: 6n * HOUR_S, factor: 2n },
] as const;

/** Factor where the value at stake has no price. */
const UNPRICED_FACTOR_MAX = 2n;

/** Returns the highest gas price of a claim. Amounts and prices are in wei; the result is never below `cap`. */
export function claimCapOf({
  cap,
  ageS,
  gas,
  worth,
}: {
  /** Cap of the chain. */
  readonly cap: bigint;
  /** Seconds since the lock. */
  readonly ageS: bigint;
  readonly gas: bigint;
  /** Value of the lock; null without a price. */
  readonly worth: bigint | null;
}): bigint {
  const factor = STAGES.find(({ afterS }) => ageS >= afterS)?.factor ?? 1n;
  const most = worth === null ? cap * UNPRICED_FACTOR_MAX : worth / (2n * gas);
  const raised = cap * factor < most ? cap * factor : most;
  return raised > cap ? raised : cap;
}

/** Creates the reading of a claim's cap. It reads prices only once the lock is old enough for another cap. */
export function createClaimCapReader({
  db,
  clock,
  config,
  prices,
}: {
  readonly db: Db;
  readonly clock: Clock;
  readonly config: Pick<Config, "chains">;
  readonly prices: Pick<Prices, "readRate">;
}): (claim: LaneTransaction, cap: bigint) => Promise<bigint> {
  async function readWorth(chainId: number, lock: { token: string; amount: bigint }) {
    const chain = config.chains.find((known) => known.chainId === chainId);
    const token = chain?.tokens.find(({ address }) => address === lock.token);
    if (!chain || !token) return null;
    try {
      const from = { chainId, token: token.address };
      const rate = await prices.readRate(from, { chainId, token: NATIVE_TOKEN });
      return convert({ amount: lock.amount, rate, decimalsIn: token.decimals, decimalsOut: 18 });
    } catch (error) {
      // Without a price the time alone raises the cap, and less.
      if (error instanceof OperatingError && error.code === "PRICE_UNAVAILABLE") return null;
      throw error;
    }
  }

  return async ({ intent, gas }, cap) => {
    const [, deliveryId = ""] = intent.split(":");
    // CAST: an intent that names no delivery finds none.
    const delivery = await getDelivery(db, deliveryId as Hex32);
    if (!delivery) return cap;
    const ageS = BigInt(Math.floor(clock.now() / 1000)) - delivery.lockedAt;
    if (STAGES.every(({ afterS }) => ageS < afterS)) return cap;
    const worth = await readWorth(delivery.srcChain, {
      token: delivery.token,
      amount: delivery.lockedAmount,
    });
    return claimCapOf({ cap, ageS, gas, worth });
  };
}
