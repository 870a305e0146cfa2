/**
 * Settlement: the interface's swap or queue item. It sweeps a wallet's whole live balance of one token and sees it
 * delivered; at most one is active per chain, wallet and token.
 * Sweep: its source leg. Delivery: its destination leg. Step: what is done next, so that a retry never repeats a leg
 * that already moved value.
 */
import type { ErrorCode, SettlementStatus } from "@sluice/sdk/wire";
import type { Address, Hex32, TxHash } from "../core/hex.ts";
import type { ErrorDetails } from "../core/errors.ts";
import type { FeeTerms } from "../fees/index.ts";
import type { RouteKind } from "../routes/index.ts";

export const STEPS = ["deploy", "sweep", "deliver", "done"] as const;
export type Step = (typeof STEPS)[number];

export interface Settlement {
  readonly id: string;
  readonly integratorId: string;
  readonly addressId: string;
  readonly chainId: number;
  readonly wallet: Address;
  readonly token: Address;
  readonly status: SettlementStatus;
  readonly step: Step;
  readonly version: number;
  /** Which route the last planned sweep took, and its contract; null before the first. */
  readonly route: RouteKind | null;
  readonly routeContract: Address | null;
  /** Running number of the last planned deployment; 0 when none was planned. */
  readonly deploysSent: number;
  readonly sweepsSent: number;
  /** The wallet's balance when the sweep was planned; null when none is open. */
  readonly plannedAmount: bigint | null;
  /** The terms on which the last sweep was planned; null where none was, or before terms were stored. */
  readonly fee: FeeTerms | null;
  /** What the mined sweep took. */
  readonly sweptAmount: bigint | null;
  readonly sweptBlock: bigint | null;
  readonly sweptLogIndex: number | null;
  readonly minOut: bigint | null;
  readonly deliveryId: Hex32 | null;
  readonly swapTxHash: TxHash | null;
  readonly retryCount: number;
  readonly triesUsed: number;
  readonly successorPromised: boolean;
  readonly retryAtMs: number | null;
}

/** The error of a failing, deferred or dead settlement. */
export interface SettlementError {
  readonly code: ErrorCode;
  readonly message: string;
  readonly retryable: boolean;
  readonly details?: ErrorDetails;
}
