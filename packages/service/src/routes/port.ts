/**
 * The route port: one way of delivering one pair of assets.
 *
 * A route never names a recipient: the destination is in the commitment, and the contract of the route refuses any
 * other. Source leg and destination leg are kept apart: `readSweep` says what the mined source transaction did, and
 * `lookForDelivery` says whether the promised value has reached the committed wallet.
 */
import type { Call, Receipt } from "../chains/port.ts";
import type { EvmAddress, Hex32, TxHash } from "../core/hex.ts";
import type { OperatingError } from "../core/errors.ts";
import type { DepositAddress } from "../addresses/index.ts";
import type { Tx } from "../db/schema.ts";

export type RouteKind = "MONO_CHAIN" | "SWIFT";

export interface Pair {
  readonly srcChain: number;
  readonly srcToken: EvmAddress;
  readonly destChain: number;
  readonly destToken: EvmAddress;
}

/** What a route would deliver, in destination base units. */
export interface RouteQuote {
  readonly amountOut: bigint;
  /** The least the contracts accept under the committed fee cap. */
  readonly minOut: bigint;
}

/** Inventory at a moment; both zero where a route has none. */
export interface Inventory {
  /** What was set aside, read before the balance: a payout in between then counts on both sides, never on neither. */
  readonly reserved: bigint;
  readonly balance: bigint;
}

/** What a mined sweep did. */
export interface Sweep {
  /** Source base units that left the wallet: the truth, whatever was planned. */
  readonly amount: bigint;
  readonly minOut: bigint;
  readonly logIndex: number;
  /** Set where the value waits in an escrow for its delivery. */
  readonly deliveryId: Hex32 | null;
}

/** Facts of a settlement that a route works with. */
export interface SweptSettlement {
  readonly settlementId: string;
  readonly address: DepositAddress;
  readonly sweep: Sweep;
  /** The source transaction. */
  readonly receipt: Receipt;
}

export type DeliveryLook =
  | { readonly kind: "waiting" }
  | { readonly kind: "delivered"; readonly txHash: TxHash; readonly amount: bigint }
  | { readonly kind: "troubled"; readonly error: OperatingError };

export interface Route {
  readonly kind: RouteKind;
  readonly pair: Pair;
  /** The route's contract on the source chain. */
  readonly contract: EvmAddress;
  readonly decimalsIn: number;
  readonly decimalsOut: number;
  readonly etaSeconds: number;
  /**
   * Whether a sweep is believed only once its block is final. So it is where value then leaves at our own risk: what
   * was locked, and under which id, must not change any more.
   */
  readonly waitsForFinality: boolean;
  quote(amount: bigint, maxFeeBps: number): RouteQuote;
  buildSweep(address: DepositAddress): Call;
  /** What there is to set aside from, read before the transaction that does it: no node is asked inside one. */
  readInventory(): Promise<Inventory>;
  /**
   * Sets aside what the delivery of `amount` will need, in the transaction that plans the sweep. False when there is
   * not enough; then nothing was set aside.
   */
  reserve(
    tx: Tx,
    args: {
      readonly settlementId: string;
      readonly amount: bigint;
      readonly inventory: Inventory;
    },
  ): Promise<boolean>;
  /** Gives back what was set aside: the sweep is known to have failed. */
  release(tx: Tx, settlementId: string): Promise<void>;
  /** Reads the mined sweep of a wallet; null when the transaction did not sweep it by this route. */
  readSweep(receipt: Receipt, address: DepositAddress): Sweep | null;
  /** Records the source leg, in the transaction that moves the settlement on. */
  recordSweep(tx: Tx, swept: SweptSettlement): Promise<void>;
  /** Whether the value has arrived, by our own reading of the destination chain. */
  lookForDelivery(
    swept: Omit<SweptSettlement, "receipt">,
    source: Receipt | null,
  ): Promise<DeliveryLook>;
}
