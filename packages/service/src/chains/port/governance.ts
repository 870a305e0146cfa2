/** Changes that the owner and the guardian of the service's contracts make. */
import type { Address, TxHash } from "../../core/hex.ts";

/** The powers and settings that owner and guardian change. */
export const GOVERNED_ROLES = [
  "route",
  "attestor",
  "threshold",
  "treasury",
  "guardian",
  "settler",
  "relayer",
  "mover",
  "direction",
  "withdrawal",
  "owner",
  "daily_cap",
  "pause",
] as const;
export type GovernedRole = (typeof GOVERNED_ROLES)[number];

/** `scheduled`: waits out the delay or, for an owner, for acceptance. `in_force` and `removed`: done. */
export const GOVERNANCE_STEPS = ["scheduled", "cancelled", "in_force", "removed"] as const;
export type GovernanceStep = (typeof GOVERNANCE_STEPS)[number];

/** One change, as a contract's event states it. */
export interface GovernanceChange {
  /** The contract that changes. */
  readonly contract: Address;
  readonly role: GovernedRole;
  /**
   * The account, or the token of a daily cap or a withdrawal. Of a threshold, the number as an address; of a pause, zero; of a
   * direction, the account that a treasury may pay.
   */
  readonly subject: Address;
  /** The token of a direction; null for other roles. */
  readonly token: Address | null;
  readonly step: GovernanceStep;
  /** Base units in 24 hours of a daily cap or a direction, or of a withdrawal; null for other roles. */
  readonly perDay: bigint | null;
  /** Unix seconds from which a scheduled change may be executed; null if it may be at any time, or is not scheduled. */
  readonly readyAt: bigint | null;
  /** Whether the contract was created or sealed in the same transaction. */
  readonly atDeployment: boolean;
  readonly blockNumber: bigint;
  readonly logIndex: number;
  readonly txHash: TxHash;
}

/** Reads the changes of a chain's contracts from their events. */
export interface GovernanceLog {
  /** Returns the longer delay of the governed contracts, in seconds. */
  getDelay(): Promise<bigint>;
  /**
   * Lists the changes in the blocks `from` to `to`, in order, of the governed contracts and of routes with a daily cap.
   * Throws RPC_UNAVAILABLE if a node would need too many requests for them.
   */
  listChanges(range: {
    readonly from: bigint;
    readonly to: bigint;
    readonly routes: readonly Address[];
  }): Promise<readonly GovernanceChange[]>;
}
