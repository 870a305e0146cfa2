/**
 * The route port: one way of delivering one pair of assets.
 *
 * A route never names a recipient: the destination is in the commitment, and the contract of the route refuses any
 * other. Source leg and destination leg are kept apart: `readSweep` says what the mined source transaction did, and
 * `checkDelivery` says whether the promised value has reached the committed wallet.
 */
import type { RouteKind } from "../config/index.ts";
import type { Call, Held, Receipt } from "../chains/port/index.ts";
import type { Caps } from "../core/amounts.ts";
import type { Address, Hex32, TxHash } from "../core/hex.ts";
import type { OperatingError } from "../core/errors.ts";
import type { DepositAddress } from "../addresses/index.ts";
import type { FeeRoute, FeeTerms } from "../fees/index.ts";
import type { Tx } from "../db/schema.ts";

export interface Pair {
  readonly srcChain: number;
  readonly srcToken: Address;
  readonly destChain: number;
  readonly destToken: Address;
}

/** What a route would deliver, in destination base units. */
export interface RouteQuote {
  /** The whole value, before any fee. */
  readonly fair: bigint;
  readonly amountOut: bigint;
  /** The least the contracts accept under the committed caps. */
  readonly minOut: bigint;
  /** How long it takes, where that depends on the amount; otherwise the route's own. */
  readonly etaSeconds?: number;
}

/** Inventory at a moment; all zero where a route has none. */
export interface Inventory {
  /** What was set aside, read before the balance: a payout in between then counts on both sides, never on neither. */
  readonly reserved: bigint;
  readonly balance: bigint;
  /** What the cap over 24 hours still lets through. */
  readonly capLeft: bigint;
  /** Whole destination tokens per whole source token, times 1e18. */
  readonly rate: bigint;
}

/** What setting inventory aside came to. */
export type Reservation = "reserved" | "inventory_too_low" | "daily_cap_reached";

/** What a mined sweep did. */
export interface Sweep {
  /** Source base units that left the wallet: the truth, whatever was planned. */
  readonly amount: bigint;
  readonly minOut: bigint;
  readonly logIndex: number;
  /** The block up to which it took what had arrived, where it did not take the whole balance of its moment. */
  readonly upTo?: bigint | undefined;
  /** Kept of the amount before a pool exchanged the rest, in source base units; undefined where none did. */
  readonly swapFee?: bigint;
  /** Set where the value waits in an escrow for its delivery. */
  readonly deliveryId: Hex32 | null;
}

/** Facts of a settlement that a route works with. */
export interface SweptSettlement {
  readonly settlementId: string;
  readonly address: DepositAddress;
  readonly sweep: Sweep;
  /** The terms on which the sweep was planned. */
  readonly fee: FeeTerms;
  /** The source transaction. */
  readonly receipt: Receipt;
}

export type DeliveryProgress =
  | { readonly kind: "waiting" }
  | { readonly kind: "delivered"; readonly txHash: TxHash; readonly amount: bigint }
  /** The value is in the wallet again, for good: the sweep begins anew. */
  | { readonly kind: "returned"; readonly error: OperatingError }
  /** The refund authority has the value, for good. */
  | { readonly kind: "taken_back" }
  | { readonly kind: "failing"; readonly error: OperatingError };

export interface Route extends FeeRoute {
  readonly kind: RouteKind;
  readonly pair: Pair;
  /** The route's contract on the source chain. */
  readonly contract: Address;
  readonly decimalsIn: number;
  readonly decimalsOut: number;
  readonly etaSeconds: number;
  /**
   * Whether a sweep is believed only once its block is final. So it is where value then leaves at our own risk: what
   * was locked, and under which id, must not change any more.
   */
  readonly waitsForFinality: boolean;
  /** Whether the sweep is the delivery: then both are final together. */
  readonly deliversBySweep: boolean;
  /** Whether a sweep carries a price that runs out: then a revert may mean no more than that. */
  readonly isPriced: boolean;
  /**
   * Throws PRICE_UNAVAILABLE where a price is needed and there is none, NO_ROUTE where the pool's answer is not what is
   * fair.
   */
  quote(amount: bigint, caps: Caps, fee: FeeTerms): Promise<RouteQuote>;
  /** The sweep of a balance, or null while the attestor has not signed the price it needs. */
  prepareSweep(
    address: DepositAddress,
    amount: bigint,
    fee: FeeTerms,
    /** How the amount was found, where the chain does not sweep the whole balance of a moment. */
    held?: Pick<Held, "asOf" | "sources">,
  ): Promise<Call | null>;
  /** What there is to set aside from, read before the transaction that does it: no node is asked inside one. */
  readInventory(): Promise<Inventory>;
  /** Whether the delivery of `amount` would fit what there is. */
  judgeInventory(args: { readonly amount: bigint; readonly inventory: Inventory }): Reservation;
  /**
   * Sets aside what the delivery of `amount` will need, in the transaction that plans the sweep; or says why it cannot,
   * and then nothing was set aside.
   */
  reserve(
    tx: Tx,
    args: {
      readonly settlementId: string;
      readonly amount: bigint;
      readonly inventory: Inventory;
    },
  ): Promise<Reservation>;
  /** Gives back what was set aside: the sweep is known to have failed. */
  release(tx: Tx, settlementId: string): Promise<void>;
  /** Reads the mined sweep of a wallet; null when the transaction did not sweep it by this route. */
  readSweep(receipt: Receipt, address: DepositAddress): Promise<Sweep | null>;
  /** Records the source leg, in the transaction that moves the settlement on. */
  recordSweep(tx: Tx, swept: SweptSettlement): Promise<void>;
  /** Whether the value has arrived, by our own reading of the destination chain. */
  checkDelivery(
    swept: Omit<SweptSettlement, "receipt" | "fee">,
    source: Receipt | null,
  ): Promise<DeliveryProgress>;
}
