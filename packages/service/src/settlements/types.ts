/**
 * Settlement: the interface's swap or queue item. It sweeps a wallet's live balance of one token and follows the value
 * until it is delivered; at most one is active per holding.
 * Sweep: the source leg. Delivery: the destination leg. Step: the next action; it is stored, so that a retry never
 * repeats a leg that already moved value.
 */
import type { ErrorCode, SettlementStatus } from "@sluice/sdk/wire";
import type { Address, Hex32, TxHash } from "../core/hex.ts";
import type { ErrorDetails } from "../core/errors.ts";
import type { Stamp } from "../db/columns.ts";
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
  /** Route of the last planned sweep, and its contract; null before the first. */
  readonly route: RouteKind | null;
  readonly routeContract: Address | null;
  /** Number of the last planned deployment; 0 when none was planned. */
  readonly deploysSent: number;
  readonly sweepsSent: number;
  /** Base units that the open sweep was planned for; null when no sweep is open. */
  readonly plannedAmount: bigint | null;
  /** The last block whose deposits the planned sweep takes, if it names its amount. */
  readonly plannedUpTo: bigint | null;
  /** Fee terms of the last planned sweep; null before the first, or if it was planned before terms were stored. */
  readonly fee: FeeTerms | null;
  /** Base units that the mined sweep took; null before it is recorded. */
  readonly sweptAmount: bigint | null;
  /** Hash of the block that the sweep was read from; null before it is recorded, or if it was recorded before hashes were. */
  readonly sweptBlockHash: Hex32 | null;
  readonly sweptLogIndex: number | null;
  readonly minOut: bigint | null;
  readonly deliveryId: Hex32 | null;
  readonly swapTxHash: TxHash | null;
  readonly retryCount: number;
  readonly triesUsed: number;
  readonly successorPromised: boolean;
  readonly retryAtMs: number | null;
  readonly createdAtMs: number;
  /** Time of the last change. */
  readonly updatedAtMs: number;
  /** When it is polled next, as it was read; null where it is not. */
  readonly nextCheckAt: Stamp | null;
}

/** Codes of a balance that is worth less than its sweep costs: it waits for more deposits, or for lower costs. */
export const TOO_LITTLE: readonly ErrorCode[] = ["AMOUNT_TOO_SMALL", "FEE_NOT_COVERED"];

/** The error of a failing, deferred or dead settlement. */
export interface SettlementError {
  readonly code: ErrorCode;
  readonly message: string;
  readonly retryable: boolean;
  readonly details?: ErrorDetails;
}
