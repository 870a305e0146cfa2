/**
 * The route port: one way to deliver one pair of tokens.
 *
 * A route never names a recipient: the commitment holds the destination, and the route's contract refuses any other. The
 * source leg and the destination leg are separate: `readSweep` reports the effects of the mined source transaction, and
 * `checkDelivery` reports whether the promised value has reached the committed wallet.
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

/** Expected amounts of a delivery, in destination base units. */
export interface RouteQuote {
  /** Value of the whole deposit, before any fee. */
  readonly fair: bigint;
  readonly amountOut: bigint;
  /** Minimum that the contracts accept under the committed caps. */
  readonly minOut: bigint;
  /** Expected duration if it depends on the amount; otherwise the route's own applies. */
  readonly etaSeconds?: number;
}

/** Inventory at one moment; all zero for a route without inventory. */
export interface Inventory {
  /** Sum of reservations, read before the balance: a payout in between counts on both sides, never on neither. */
  readonly reserved: bigint;
  readonly balance: bigint;
  /** Remainder of the daily cap. */
  readonly capLeft: bigint;
  /** Whole destination tokens per whole source token, times 1e18. */
  readonly rate: bigint;
}

/** An inventory: a token on the chain of the payout. */
export interface ReservedInventory {
  readonly destChain: number;
  readonly token: Address;
}

/** The settlement that reserves inventory. */
export interface Reserving {
  readonly settlementId: string;
  readonly integratorId: string;
  readonly addressId: string;
}

/** Outcome of a reservation. */
export type Reservation =
  | "reserved"
  | "inventory_too_low"
  | "daily_cap_reached"
  /** The address, or its integrator, would reserve more than its share of the inventory. */
  | "address_share_reached"
  | "integrator_share_reached"
  | "cap_share_reached";

/** Effects of a mined sweep. */
export interface Sweep {
  /** Source base units that left the wallet. Replaces the planned amount. */
  readonly amount: bigint;
  readonly minOut: bigint;
  readonly logIndex: number;
  /** Last block whose arrivals the sweep covered, on chains where a sweep does not take the whole balance. */
  readonly upTo?: bigint | undefined;
  /** Fee taken before a pool swapped the rest, in source base units; undefined without a pool. */
  readonly swapFee?: bigint;
  /** Set if the value waits in an escrow for its delivery. */
  readonly deliveryId: Hex32 | null;
}

/** Facts of a settlement that a route needs after its sweep. */
export interface SweptSettlement {
  readonly settlementId: string;
  readonly address: DepositAddress;
  readonly sweep: Sweep;
  /** Terms on which the sweep was planned. */
  readonly fee: FeeTerms;
  /** Receipt of the source transaction. */
  readonly receipt: Receipt;
}

export type DeliveryProgress =
  | { readonly kind: "waiting" }
  | { readonly kind: "delivered"; readonly txHash: TxHash; readonly amount: bigint }
  /** The value is in the wallet again, at a final block: the settlement sweeps again. */
  | { readonly kind: "returned"; readonly error: OperatingError }
  /** The refund authority has the value, at a final block. */
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
   * Whether a sweep counts only once its block is final. True where value then leaves at the operator's risk: lock amount
   * and delivery id must not change after that.
   */
  readonly waitsForFinality: boolean;
  /** Whether the delivery of a sweep of this amount may be paid at the operator's risk, so that the sweep counts at once. */
  mayPayEarly?(amount: bigint): Promise<boolean>;
  /** Contract that pays the recipient on the destination; absent where the sweep itself does. */
  readonly payer?: "delivery" | "bridge";
  /** Whether the sweep is also the delivery, so that both become final together. */
  readonly deliversBySweep: boolean;
  /** Whether a sweep carries a price that expires, so that a revert may mean only an expired price. */
  readonly isPriced: boolean;
  /**
   * Returns the expected amounts.
   * @throws OperatingError PRICE_UNAVAILABLE if a required price is missing, NO_ROUTE if the pool's quote is not fair.
   */
  quote(amount: bigint, caps: Caps, fee: FeeTerms): Promise<RouteQuote>;
  /** Builds the sweep of a balance, or returns null while the attestor has not signed the required price. */
  prepareSweep(
    address: DepositAddress,
    amount: bigint,
    fee: FeeTerms,
    /** How the amount was found, on chains where a sweep does not take the whole balance. */
    held?: Pick<Held, "asOf" | "sources">,
  ): Promise<Call | null>;
  /** Reads the inventory before the transaction that reserves from it: no node is called inside a transaction. */
  readInventory(): Promise<Inventory>;
  /**
   * Returns the most source base units that one sweep of a settlement can take now: by inventory, a daily cap or a bridge's
   * limit per message. Null without a limit.
   */
  readCapacity(of: Reserving): Promise<bigint | null>;
  /** Returns whether the inventory covers the delivery of `amount`. */
  judgeInventory(args: { readonly amount: bigint; readonly inventory: Inventory }): Reservation;
  /** The inventory from which it reserves; null for a route without one. */
  readonly reserves: ReservedInventory | null;
  /**
   * Reserves inventory for the delivery of `amount`, in the transaction that plans the sweep, which has locked it. Any result
   * other than `reserved` means that nothing was reserved.
   */
  reserve(
    tx: Tx,
    args: Reserving & { readonly amount: bigint; readonly inventory: Inventory },
  ): Promise<Reservation>;
  /** Releases the reservation of a sweep that is known to have failed. */
  release(tx: Tx, settlementId: string): Promise<void>;
  /** Reads the mined sweep of a wallet; null if the transaction did not sweep it by this route. */
  readSweep(receipt: Receipt, address: DepositAddress): Promise<Sweep | null>;
  /** Records the source leg, in the transaction that advances the settlement. */
  recordSweep(tx: Tx, swept: SweptSettlement): Promise<void>;
  /** Returns whether the value has arrived, as the service's own reader sees the destination chain. */
  checkDelivery(
    swept: Omit<SweptSettlement, "receipt" | "fee">,
    source: Receipt | null,
  ): Promise<DeliveryProgress>;
}
