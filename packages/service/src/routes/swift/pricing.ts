/**
 * Pairs that are not the same asset: what they are worth, and the price an attestor signs for a sweep. Our own rate
 * decides over quotes and over what is set aside; the rate that counts on chain is the attestor's, from its own sources.
 */
import type { AttestedPrice, BlockId, Chain } from "../../chains/port/index.ts";
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

/** A rate: whole destination tokens per whole source token, times 1e18. Throws PRICE_UNAVAILABLE. */
export type ReadRate = () => Promise<bigint>;

export interface Pricing {
  readonly readRate: ReadRate;
  /** A price for a sweep of up to `amount`, or null while the attestor has not answered. */
  attestPrice(address: DepositAddress, amount: bigint): Promise<AttestedPrice | null>;
  /** The lowest rate at which a route can have swept in a block; null when none was signed for it. */
  findRateAt(
    address: DepositAddress,
    at: { readonly route: Address; readonly block: BlockId },
  ): Promise<bigint | null>;
}

/** The contract takes prices whose deadline is at most 120 s ahead of a block that may be a little old. */
const PRICE_LIFETIME_MAX_S = 120n;
const PRICE_LIFETIME_S = 100n;
/** A price with less time left is not sent any more. */
const TIME_TO_MINE_S = 30n;

/** Prices of one pair, asked of the attestor through the desk in the database. */
export function createPricing(options: {
  readonly db: Db;
  readonly clock: Clock;
  readonly source: Chain;
  readonly token: Address;
  readonly contract: Address;
  readonly readRate: ReadRate;
  readonly wakeAttestor: () => void;
}): Pricing {
  const { db, clock, source, token, contract, readRate } = options;
  const nowS = () => BigInt(Math.floor(clock.now() / 1000));
  const scopeOf = ({ commitmentHash }: DepositAddress, route = contract) => ({
    commitment: commitmentHash,
    srcChain: source.chainId,
    token,
    route,
  });

  return {
    readRate,

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
        return { price: { rate, maxAmount, deadline }, signature };
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
            // Somebody may add a little meanwhile; a much larger balance asks for a price of its own.
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
