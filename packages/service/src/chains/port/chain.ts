/** One chain, whole. */
import type { CctpBridge, MovingState } from "./capabilities.ts";
import type { DepositContracts } from "./contracts.ts";
import type { ChainReader } from "./reading.ts";
import type { ChainSender } from "./sending.ts";

/** One chain, whole. */
export interface Chain extends ChainReader, ChainSender, DepositContracts {
  /** Null where state is read at any block. */
  readonly movingState: MovingState | null;
  /** Null on a chain without it. */
  readonly cctp: CctpBridge | null;
}

/** The configured chains by bridge id. */
export type Chains = ReadonlyMap<number, Chain>;
