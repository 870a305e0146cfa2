/**
 * Pricing of pairs of different assets. The service's own rate decides quotes and reservations; the rate that the contract
 * enforces is the attestor's, from its own sources. Neither trusts the other: a signed rate that is too far from the
 * service's own is not used, and the contract refuses one outside the bounds that the service sends with it.
 */
import type { BlockId, BoundedPrice, Chain, RateBounds } from "../../chains/port/index.ts";
import { feeOf } from "../../core/amounts.ts";
import { OperatingError } from "../../core/errors.ts";
import type { Address } from "../../core/hex.ts";
import type { Clock } from "../../core/ports.ts";
import type { Db } from "../../db/schema.ts";
import type { DepositAddress } from "../../addresses/index.ts";
import {
  findLowestRate,
  getLatestPrice,
  insertAttestation,
  nextPriceNumber,
} from "./attestations.ts";

/** Returns a rate: whole destination tokens per whole source token, times 1e18. Throws PRICE_UNAVAILABLE. */
export type ReadRate = () => Promise<bigint>;

export interface Pricing {
  readonly readRate: ReadRate;
  /** The most by which a signed rate may differ from the service's own, in basis points. */
  readonly rateToleranceBps: number;
  /**
   * Returns a signed price for a sweep of up to `amount`, with the service's bounds; null while the attestor has not
   * answered. Throws PRICE_UNAVAILABLE if there is no price, or if the signed rate is outside the bounds.
   */
  attestPrice(address: DepositAddress, amount: bigint): Promise<BoundedPrice | null>;
  /** Returns the lowest rate at which a route can have swept in a block; null if no price was signed. */
  findRateAt(
    address: DepositAddress,
    at: { readonly route: Address; readonly block: BlockId },
  ): Promise<bigint | null>;
}

/**
 * Lifetime of a price in seconds. The contract accepts deadlines at most 120 s ahead of its block, which may be slightly
 * old.
 */
const PRICE_LIFETIME_MAX_S = 120n;
const PRICE_LIFETIME_S = 100n;
/** Minimum time left, in seconds, for a price to be sent. */
const TIME_TO_MINE_S = 30n;

/** A rate that the attestor signed, and the service's own, from which it is too far. */
export interface RefusedRate {
  /** Bridge chain id of the source. */
  readonly chainId: number;
  readonly token: Address;
  readonly attested: bigint;
  readonly own: bigint;
}

/** Returns the rates that are at most the tolerance away from a rate. */
export function boundsAround(rate: bigint, toleranceBps: number): RateBounds {
  const distance = feeOf(rate, toleranceBps);
  return { min: rate - distance, max: rate + distance };
}

/** Returns the prices of one pair, requested from the attestor through the database. */
export function createPricing(options: {
  readonly db: Db;
  readonly clock: Clock;
  readonly source: Chain;
  readonly token: Address;
  readonly contract: Address;
  readonly readRate: ReadRate;
  readonly rateToleranceBps: number;
  /** Called with each signed rate that is refused. */
  readonly onRefusedRate: (refused: RefusedRate) => void;
  readonly wakeAttestor: () => void;
}): Pricing {
  const { db, clock, source, token, contract, readRate, rateToleranceBps } = options;
  const nowS = () => BigInt(Math.floor(clock.now() / 1000));
  const scopeOf = ({ commitmentHash }: DepositAddress, route = contract) => ({
    commitment: commitmentHash,
    srcChain: source.chainId,
    token,
    route,
  });

  /** Returns the bounds of a rate that the attestor signed. Throws PRICE_UNAVAILABLE if it is outside them. */
  async function boundRate(attested: bigint): Promise<RateBounds> {
    const own = await readRate();
    const bounds = boundsAround(own, rateToleranceBps);
    if (attested >= bounds.min && attested <= bounds.max) return bounds;
    options.onRefusedRate({ chainId: source.chainId, token, attested, own });
    throw new OperatingError(
      "PRICE_UNAVAILABLE",
      "The attestor's rate differs too much from the service's own.",
      { details: { reason: "rates_differ" } },
    );
  }

  return {
    readRate,
    rateToleranceBps,

    async findRateAt(address, { route, block }) {
      const timeS = await source.getTime(block);
      const lifetimeS = PRICE_LIFETIME_MAX_S;
      return findLowestRate(db, scopeOf(address, route), { timeS, lifetimeS });
    },

    async attestPrice(address, amount) {
      const { commitment, commitmentHash } = address;
      const last = await getLatestPrice(db, scopeOf(address));
      const usable =
        last && last.maxAmount >= amount && last.deadline > nowS() + TIME_TO_MINE_S ? last : null;
      if (usable?.refusal) {
        throw new OperatingError("PRICE_UNAVAILABLE", "The attestor has no price for this pair.", {
          details: { reason: usable.refusal },
        });
      }
      if (usable) {
        const { rate, maxAmount, deadline, signature } = usable;
        if (rate === null || signature === null) return null;
        const bounds = await boundRate(rate);
        return { price: { rate, maxAmount, deadline }, signature, bounds };
      }
      const deadline = nowS() + PRICE_LIFETIME_S;
      const number = await nextPriceNumber(db, commitmentHash);
      await db.transaction().execute((tx) =>
        insertAttestation(tx, {
          id: `price:${commitmentHash}:${number}`,
          deliveryId: commitmentHash,
          deadline,
          request: {
            kind: "price",
            srcChain: source.chainId,
            commitment,
            token,
            route: contract,
            // Allows for small additions meanwhile; a much larger balance needs a new price.
            maxAmount: amount + amount / 10n + 1n,
            deadline,
          },
          nowMs: clock.now(),
        }),
      );
      options.wakeAttestor();
      return null;
    },
  };
}
