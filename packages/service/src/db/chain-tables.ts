/** The tables of chains: findings of the scanner, transactions of the service, and requests to nodes. */
import type { ColumnType, Generated } from "kysely";
import type { GeneratedStamp, Int8, Int8OrNull, Numeric, NumericOrNull, Stamp } from "./columns.ts";

export interface ScannerBlocksTable {
  chain_id: number;
  number: Int8;
  hash: string;
  parent_hash: string;
}

export interface ScannerFinalityTable {
  chain_id: number;
  number: bigint;
  looked_again: bigint | null;
}

export interface ScannerOrdersTable {
  id: Generated<bigint>;
  chain_id: number;
  kind: string;
  from_block: Int8;
  through_block: Int8;
  next_block: Int8OrNull;
  operator: string;
  reason: string;
  at: GeneratedStamp;
}

export interface BalanceRoundsTable {
  chain_id: number;
  list: string;
  integrator_id: string;
  position: string;
  swept_at: Stamp;
}

export interface FreshWalletsTable {
  chain_id: number;
  integrator_id: string;
  wallet: string;
  fresh_until: Stamp;
}

export interface DepositsTable {
  id: string;
  chain_id: number;
  wallet: string;
  token: string;
  tx_hash: string | null;
  ordinal: number;
  log_index: number;
  sender: string | null;
  amount: Numeric;
  block_number: Int8;
  block_hash: string;
  address_id: string;
  integrator_id: string;
  /** Written by the database when the row is inserted. */
  user_id: ColumnType<string | null, never, never>;
  settlement_id: string | null;
  queued: boolean;
  ignored_reason: string | null;
  detected_at: GeneratedStamp;
  orphaned_at: Stamp | null;
  recheck_at: Stamp | null;
}

export interface OutflowsTable {
  chain_id: number;
  block_number: Int8;
  block_hash: string;
  log_index: number;
  wallet: string;
  token: string;
  amount: Numeric;
  kind: string;
  tx_hash: string;
}

export interface LanesTable {
  chain_id: number;
  address: string;
  purpose: string;
  next_nonce: number;
}

export interface TransactionsTable {
  id: string;
  chain_id: number;
  lane: string;
  intent: string;
  settlement_id: string | null;
  to_address: string;
  data: string;
  value: Numeric;
  gas: Int8;
  nonce: number | null;
  carrier_id: string | null;
  state: string;
  succeeded: boolean | null;
  mined_hash: string | null;
  mined_block_hash: string | null;
  mined_block_number: Int8OrNull;
  created_at: GeneratedStamp;
  gas_cost: NumericOrNull;
  retry_at: Generated<Stamp | null>;
  integrator_id: Generated<string>;
  solo: Generated<boolean>;
  cancelled: Generated<boolean>;
}

export interface LaneActionsTable {
  id: Generated<bigint>;
  chain_id: number;
  lane: string;
  nonce: number;
  action: string;
  operator: string;
  reason: string;
  at: GeneratedStamp;
}

export interface AttemptsTable {
  hash: string;
  transaction_id: string;
  number: number;
  raw: string;
  max_fee_per_gas: Numeric;
  max_priority_fee_per_gas: Numeric;
  blockhash: string | null;
  last_valid_height: Int8 | null;
  created_at: Stamp;
  sent_at: Stamp | null;
  accepted: Generated<boolean>;
  sends: Generated<number>;
  outcome: Generated<string | null>;
  cancels: Generated<boolean>;
}

export interface RpcBudgetsTable {
  chain_id: number;
  host: string;
  day: number;
  requests: bigint;
}
