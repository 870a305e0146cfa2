/**
 * Pricing of pairs of different assets. The service proposes its own rate, and each attestor signs it if it is close to the
 * attestor's own, from its own sources. Neither trusts the other: a signed rate from which the service's own has moved too
 * far is not used, and the contract refuses one outside the bounds that the service sends with it.
 */
import type { BlockId, BoundedPrice, Chain, RateBounds } from "../../chains/port/index.ts";
import { feeOf } from "../../core/amounts.ts";
import { OperatingError } from "../../core/errors.ts";
import type { Address } from "../../core/hex.ts";
import type { Clock } from "../../core/ports.ts";
import type { Db } from "../../db/schema.ts";
import type { AttestorSet } from "../../signers/port.ts";
import type { DepositAddress } from "../../addresses/index.ts";
import { findLowestRate, getLatestPrice, insertAttestation, nextNumber } from "./attestations.ts";

/** Returns a rate: whole destination tokens per whole source token, times 1e18. Throws PRICE_UNAVAILABLE. */
export type ReadRate = () => Promise<bigint>;

export interface Pricing {
  readonly readRate: ReadRate;
  /** The most by which a signed rate may differ from the service's own, in basis points. */
  readonly rateToleranceBps: number;
  /**
   * Returns a signed price for a sweep of up to `amount`, with the service's bounds; null until enough attestors have
   * signed. Throws PRICE_UNAVAILABLE if there is no price, or if the signed rate is outside the bounds.
   */
  attestPrice(address: DepositAddress, amount: bigint): Promise<BoundedPrice | null>;
  /** Returns the lowest rate at which a route can have swept in a block; null if no price was signed. */
  findRateAt(
    address: DepositAddress,
    at: { readonly route: Address; readonly block: BlockId },
  ): Promise<bigint | null>;
}

/** Longest lifetime of a price in seconds. The contract accepts deadlines at most this far ahead of its block. */
const PRICE_LIFETIME_MAX_S = 120n;
/** Lifetime of a requested price in seconds: a sweep is simulated on a block that may be 40 s old, as after two missed slots. */
const PRICE_LIFETIME_S = 80n;
/** Minimum time left, in seconds, for a price to be sent. */
const TIME_TO_MINE_S = 30n;

/** A rate that was requested, and that attestors refused or from which the service's own has moved too far. */
export interface RefusedRate {
  /** Bridge chain id of the source. */
  readonly chainId: number;
  readonly token: Address;
  readonly requested: bigint;
  /** The service's own rate now. */
  readonly own: bigint;
}

/** The attestors' word for a rate that is too far from their own. */
const RATES_DIFFER = "rates_differ";

/** Returns the rates that are at most the tolerance away from a rate. */
export function boundsAround(rate: bigint, toleranceBps: number): RateBounds {
  const distance = feeOf(rate, toleranceBps);
  return { min: rate - distance, max: rate + distance };
}

/** Returns the prices of one pair, requested from the attestor through the database. */
export function createPricing(options: {
  readonly db: Db;
  readonly clock: Clock;
  readonly attestors: AttestorSet;
  readonly source: Chain;
  readonly token: Address;
  readonly contract: Address;
  readonly readRate: ReadRate;
  readonly rateToleranceBps: number;
  /** Called with each rate that is refused. */
  readonly onRefusedRate: (refused: RefusedRate) => void;
  readonly wakeAttestor: () => void;
}): Pricing {
  const { db, clock, attestors, source, token, contract, readRate, rateToleranceBps } = options;
  const nowS = () => BigInt(Math.floor(clock.now() / 1000));
  const scopeOf = ({ commitmentHash }: DepositAddress, route = contract) => ({
    commitment: commitmentHash,
    srcChain: source.chainId,
    token,
    route,
  });

  /** Returns the bounds of a rate that attestors signed. Throws PRICE_UNAVAILABLE if it is outside them. */
  async function boundRate(requested: bigint): Promise<RateBounds> {
    const own = await readRate();
    const bounds = boundsAround(own, rateToleranceBps);
    if (requested >= bounds.min && requested <= bounds.max) return bounds;
    options.onRefusedRate({ chainId: source.chainId, token, requested, own });
    throw new OperatingError(
      "PRICE_UNAVAILABLE",
      "The signed rate differs too much from the service's own.",
      { details: { reason: RATES_DIFFER } },
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
      const wallet = source.predictWallet(commitment);
      const last = await getLatestPrice(db, attestors, scopeOf(address), wallet);
      const usable =
        last && last.maxAmount >= amount && last.deadline > nowS() + TIME_TO_MINE_S ? last : null;
      if (usable?.refusal) {
        if (usable.refusal === RATES_DIFFER) {
          const { rate: requested } = usable;
          const own = await readRate();
          options.onRefusedRate({ chainId: source.chainId, token, requested, own });
        }
        throw new OperatingError("PRICE_UNAVAILABLE", "The attestors sign no price of this pair.", {
          details: { reason: usable.refusal },
        });
      }
      if (usable) {
        const { rate, maxAmount, deadline, signatures } = usable;
        if (signatures === null) return null;
        const bounds = await boundRate(rate);
        return { price: { rate, maxAmount, deadline }, signature: signatures, bounds };
      }
      const rate = await readRate();
      const deadline = nowS() + PRICE_LIFETIME_S;
      const number = await nextNumber(db, commitmentHash, "price");
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
            rate,
            // Allows for small additions meanwhile; a much larger balance needs a new price.
            maxAmount: amount + amount / 10n + 1n,
            deadline,
          },
        }),
      );
      options.wakeAttestor();
      return null;
    },
  };
}
