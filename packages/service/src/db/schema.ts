/** The tables as Kysely types. `migrations/` defines the schema; a test compares the two. */
import type { ChainKind } from "../core/chain-registry.ts";
import type { ErrorObject, KeyScope } from "@sluice/sdk/wire";
import type { ColumnType, Generated, Kysely, Transaction } from "kysely";
import type {
  AttemptsTable,
  BalanceRoundsTable,
  DepositsTable,
  FreshWalletsTable,
  LaneActionsTable,
  LanesTable,
  OutflowsTable,
  RpcBudgetsTable,
  ScannerBlocksTable,
  ScannerFinalityTable,
  ScannerOrdersTable,
  TransactionsTable,
} from "./chain-tables.ts";
import type {
  GeneratedStamp,
  Int8,
  Int8OrNull,
  Json,
  JsonOrNull,
  Numeric,
  NumericOrNull,
  Stamp,
} from "./columns.ts";
import type {
  WebhookAttemptsTable,
  WebhookCursorsTable,
  WebhookDeliveriesTable,
  WebhookEndpointsTable,
  WebhookSecretsTable,
} from "./webhook-tables.ts";

export interface IntegratorsTable {
  id: string;
  name: string;
  refund_evm: string;
  refund_solana: string | null;
  max_fee_bps: number;
  max_slippage_bps: number;
  gas: string | null;
  routes: Generated<string>;
  unattended: Generated<boolean>;
  queue_weight: Generated<number>;
  addresses_max: Int8OrNull;
  open_settlements_max: Int8OrNull;
  /** Whether its addresses are those of the operator's own moves. */
  own: Generated<boolean>;
  addresses_issued: Generated<bigint>;
  created_at: GeneratedStamp;
}

export interface ApiKeysTable {
  id: string;
  integrator_id: string;
  key_hmac: Buffer;
  deposit_addresses: boolean;
  created_at: GeneratedStamp;
  revoked_at: Stamp | null;
  label: string | null;
  prefix: "sk_live_" | "sk_test_" | null;
  /** Null: every scope. */
  scopes: KeyScope[] | null;
  /** Null: every address. */
  allowed_networks: string[] | null;
  expires_at: Stamp | null;
  replaces: string | null;
  last_used_at: Stamp | null;
}

export interface KeyUsageTable {
  key_id: string;
  day: Stamp;
  requests: Int8;
  node_requests: Int8;
}

export interface PayLinksTable {
  id: string;
  integrator_id: string;
  address_id: string;
  token_hmac: Buffer;
  title: string | null;
  created_at: GeneratedStamp;
  expires_at: Stamp;
  revoked_at: Stamp | null;
}

export interface OperatorsTable {
  id: string;
  name: string;
  role: string;
  created_at: GeneratedStamp;
  disabled_at: Stamp | null;
  identity: Generated<string | null>;
  subject: Generated<string | null>;
}

export interface OperatorInvitationsTable {
  token_hmac: Buffer;
  operator_id: string;
  expires_at: Stamp;
  used_at: Stamp | null;
}

export interface OperatorPasskeysTable {
  credential_id: string;
  operator_id: string;
  public_key: Buffer;
  counter: bigint;
  created_at: GeneratedStamp;
  last_used_at: Stamp | null;
}

export interface OperatorChallengesTable {
  challenge: Buffer;
  expires_at: Stamp;
}

export interface OperatorSessionsTable {
  id: string;
  token_hmac: Buffer;
  operator_id: string;
  created_at: GeneratedStamp;
  expires_at: Stamp;
  verified_at: Stamp | null;
  by_invitation: boolean;
  ended_at: Stamp | null;
}

export interface OperatorLogTable {
  seq: bigint;
  at: Stamp;
  operator: string;
  action: string;
  entry: Json<Readonly<Record<string, unknown>>>;
  previous: Buffer;
  hash: Buffer;
}

export interface AddressesTable {
  id: string;
  integrator_id: string;
  chain_family: ChainKind;
  user_id: string;
  dest_chain: number;
  dest_wallet: string;
  dest_token: string;
  refund_authority: string;
  max_fee_bps: number;
  max_slippage_bps: number;
  version: number;
  wallet_kind: number;
  factory: string;
  commitment: string;
  wallet: string;
  proof: string | null;
  /** Root of `route_set`; zero without one. */
  routes: Generated<string>;
  flags: Generated<number>;
  route_set: ColumnType<unknown, string | null, never>;
  /** Whether there is a `route_set`; part of the unique key, in which null would equal nothing. */
  fixed: Generated<boolean>;
  created_at: Stamp;
}

export interface SettlementsTable {
  id: string;
  integrator_id: string;
  address_id: string;
  /** Written by the database when the row is inserted. */
  user_id: ColumnType<string | null, never, never>;
  chain_id: number;
  wallet: string;
  token: string;
  status: string;
  step: string;
  version: Generated<number>;
  amount: NumericOrNull;
  route: string | null;
  route_contract: Generated<string | null>;
  deploys_sent: Generated<number>;
  sweeps_sent: Generated<number>;
  planned_amount: NumericOrNull;
  planned_up_to: Int8OrNull;
  swept_amount: NumericOrNull;
  min_out: NumericOrNull;
  swap_fee: NumericOrNull;
  delivered_amount: NumericOrNull;
  fee_bps: number | null;
  fee_flat: NumericOrNull;
  fee_bridge: NumericOrNull;
  delivery_id: string | null;
  deploy_tx_hash: string | null;
  swap_tx_hash: string | null;
  delivery_tx_hash: string | null;
  swept_block: Int8OrNull;
  swept_block_hash: string | null;
  swept_log_index: number | null;
  swept_up_to: Int8OrNull;
  taken_block: ColumnType<bigint | null, never, never>;
  taken_log_index: ColumnType<number | null, never, never>;
  sweep_final: Generated<boolean>;
  error_code: string | null;
  error_message: string | null;
  error_retryable: boolean | null;
  error_details: JsonOrNull<Record<string, string | number | boolean>>;
  retry_count: Generated<number>;
  attempts_used: Generated<number>;
  successor_promised: Generated<boolean>;
  retry_at: Stamp | null;
  next_check_at: Stamp | null;
  created_at: Stamp;
  updated_at: Stamp;
}

export interface SettlementTransitionsTable {
  settlement_id: string;
  version: number;
  from_status: string;
  to_status: string;
  error_code: string | null;
  tx_hash: string | null;
  at: GeneratedStamp;
}

/** Ledger lines. Written by triggers, and by the auditor for surpluses and write-offs. */
export interface LedgerLinesTable {
  id: Generated<bigint>;
  posting: Int8;
  reason: string;
  ref: string;
  account: string;
  owner: string;
  chain_id: number;
  token: string;
  amount: Numeric;
  block_number: Int8OrNull;
  at: GeneratedStamp;
}

export interface BreachesTable {
  id: Generated<bigint>;
  chain_id: number;
  invariant: string;
  subject: string;
  details: Json<Record<string, unknown>>;
  found_at: GeneratedStamp;
  ended_at: Stamp | null;
  ended_by: string | null;
  end_reason: string | null;
  verdict: string | null;
  wallet: string | null;
  token: string | null;
  held_since: Stamp | null;
}

/** Written by the database. */
export interface AdjustedBalancesTable {
  chain_id: number;
  account: string;
  owner: string;
  token: string;
  block_number: Int8;
}

export interface AuditRoundsTable {
  chain_id: number;
  block_number: Int8;
  at: Stamp;
  last_wallet: string;
}

export interface DeliveriesTable {
  id: string;
  settlement_id: string;
  state: string;
  version: Generated<number>;
  src_chain: number;
  escrow: string;
  wallet: string;
  token: string;
  seq: Int8;
  locked_amount: Numeric;
  min_out: Numeric;
  locked_at: Int8;
  delivery: string;
  dest_chain: number;
  dest_token: string;
  dest_wallet: string;
  pay_amount: Numeric;
  fee_service: NumericOrNull;
  fee_gas: NumericOrNull;
  orders: Generated<number>;
  claims: Generated<number>;
  returns: Generated<number>;
  delivered_tx_hash: string | null;
  delivered_amount: NumericOrNull;
  claimed_tx_hash: string | null;
  /** The last error of the row. */
  trouble: JsonOrNull<ErrorObject>;
  next_check_at: Stamp | null;
  created_at: GeneratedStamp;
  audited: Generated<boolean>;
  audit_again_at: Stamp | null;
  ended_height: Int8OrNull;
  integrator_id: Generated<string>;
  superseded: Generated<boolean>;
  paid_at_depth: string | null;
  waits_for: string | null;
}

export interface BackupsTable {
  id: Generated<string>;
  started_at: Stamp;
  finished_at: Stamp;
  bytes: Int8;
}

export interface MovesTable {
  id: string;
  src_chain: number;
  token: string;
  to_address: string;
  dest_chain: number;
  dest_token: string;
  amount: Numeric;
  state: string;
  operator: string | null;
  reason: string;
  error_text: Generated<string | null>;
  cancelled_by: Generated<string | null>;
  created_at: GeneratedStamp;
  ended_at: Stamp | null;
}

export interface EarlyPayoutsTable {
  delivery_id: string;
  src_chain: number;
  worth: Numeric;
  usable_until: Int8;
  counted_at: GeneratedStamp;
  missing_at: Stamp | null;
}

export interface EarlyClosuresTable {
  id: Generated<string>;
  src_chain: number;
  reason: string;
  closed_by: string | null;
  closed_at: GeneratedStamp;
  opened_by: string | null;
  open_reason: string | null;
  opened_at: Stamp | null;
}

export interface EarlyLossesTable {
  delivery_id: string;
  worth: Numeric;
  operator: string;
  reason: string;
  accepted_at: GeneratedStamp;
  recovered_at: Stamp | null;
}

export interface PayoutSearchesTable {
  delivery_id: string;
  first_left: Int8;
  last_left: Int8;
  part_blocks: Int8;
  rounds: Generated<number>;
  created_at: GeneratedStamp;
}

export interface BridgeTransfersTable {
  id: string;
  settlement_id: string;
  state: string;
  version: Generated<number>;
  src_chain: number;
  burn_tx_hash: string;
  burn_block: Int8;
  wallet: string;
  token: string;
  fee: Numeric;
  burned_amount: Numeric;
  sent_message: string;
  min_out: Numeric;
  dest_chain: number;
  dest_token: string;
  dest_wallet: string;
  nonce: string | null;
  attested_message: string | null;
  attestation: string | null;
  delay_reason: string | null;
  reattests: Generated<number>;
  reattested_at: Stamp | null;
  relays: Generated<number>;
  mint_tx_hash: string | null;
  delivered_amount: NumericOrNull;
  bridge_fee: NumericOrNull;
  /** The last error of the row. */
  trouble: JsonOrNull<ErrorObject>;
  next_check_at: Stamp;
  created_at: GeneratedStamp;
  audited: Generated<boolean>;
  audit_again_at: Stamp | null;
  token_in: string | null;
  amount_in: NumericOrNull;
  integrator_id: Generated<string>;
}

export interface InventoryReservationsTable {
  settlement_id: string;
  dest_chain: number;
  token: string;
  amount: Numeric;
  created_at: GeneratedStamp;
  integrator_id: Generated<string | null>;
  address_id: Generated<string | null>;
}

export interface PayoutHoursTable {
  dest_chain: number;
  token: string;
  integrator_id: string;
  /** Hours since the epoch. */
  hour: bigint;
  amount: string | bigint;
}

export interface AttestationsTable {
  id: string;
  kind: string;
  delivery_id: string;
  request: Json<unknown>;
  rate: NumericOrNull;
  deadline: Int8;
  created_at: GeneratedStamp;
  /** Set by a trigger, like the next. */
  integrator_id: Generated<string>;
  queue_weight: Generated<number>;
  /** Whether a planned transaction carries its signatures. */
  used: Generated<boolean>;
}

export interface AttestationAnswersTable {
  attestation_id: string;
  attestor: string;
  written_by: Generated<string>;
  signature: string | null;
  refusal: string | null;
  next_check_at: Stamp;
  answered_at: Stamp | null;
}

export interface OperatorActionsTable {
  id: Generated<bigint>;
  settlement_id: string;
  action: string;
  operator: string;
  reason: string;
  from_status: string;
  from_step: string;
  successor_id: string | null;
  refund_to: string | null;
  at: GeneratedStamp;
}

export interface AddressRefundsTable {
  id: string;
  number: Generated<bigint>;
  address_id: string;
  /** Set by the database. */
  integrator_id: ColumnType<string, never, never>;
  chain_id: number;
  wallet: string;
  token: string;
  amount: Numeric;
  refund_to: string;
  operator: string;
  reason: string;
  intent: ColumnType<string, never, never>;
  policy_reason: string | null;
  deadline: bigint | null;
  attestation_id: string | null;
  at: GeneratedStamp;
  /** Set by the database. */
  user_id: ColumnType<string | null, never, never>;
}

export interface RefundStatesTable {
  refund_id: string;
  number: bigint;
  chain_id: number;
  state: string | null;
  integrator_id: string | null;
  at: Stamp | null;
}

/** Refunds that may still be mined. A view: PostgreSQL does not report its columns as not null. */
export interface OpenRefundsView {
  intent: string | null;
  chain_id: number | null;
  wallet: string | null;
  token: string | null;
}

export interface PausesTable {
  id: string;
  scope: string;
  chain_id: number | null;
  subject: string;
  reason: string;
  operator: string;
  paused_at: GeneratedStamp;
  resumed_at: Stamp | null;
  resumed_by: string | null;
  resume_reason: string | null;
}

export interface IntegratorActionsTable {
  id: Generated<bigint>;
  integrator_id: string;
  action: string;
  subject: string;
  detail: string | null;
  operator: string;
  reason: string | null;
  at: GeneratedStamp;
}

export interface ScannerLagsTable {
  chain_id: number;
  minute: Stamp;
  blocks: bigint;
}

export interface EventsTable {
  integrator_id: string;
  created_at: Stamp;
  id: string;
  type: string;
  data: Json<Record<string, unknown>>;
  details: JsonOrNull<Record<string, unknown>>;
}

/** The integrator's own words about an address. */
export interface AddressNotesTable {
  address_id: string;
  label: string | null;
  metadata: ColumnType<Record<string, string>, string, string>;
  updated_at: GeneratedStamp;
}

export interface ScreeningsTable {
  id: string;
  chain_id: number;
  integrator_id: string;
  verdict: Generated<string>;
  source: string | null;
  detail: string | null;
  tries: Generated<number>;
  next_check_at: GeneratedStamp;
  created_at: GeneratedStamp;
}

export interface ScreeningRecordsTable {
  record: Generated<bigint>;
  deposit_id: string;
  verdict: string;
  source: string;
  detail: string | null;
  operator: string | null;
  reason: string | null;
  at: GeneratedStamp;
}

export interface ChainActionsTable {
  id: Generated<bigint>;
  chain_id: number;
  action: string;
  operator: string;
  reason: string;
  at: GeneratedStamp;
}

export interface GovernanceChangesTable {
  id: Generated<bigint>;
  chain_id: number;
  block_number: Int8;
  log_index: number;
  tx_hash: string;
  contract: string;
  role: string;
  subject: string;
  token: string | null;
  step: string;
  per_day: NumericOrNull;
  ready_at: Int8OrNull;
  at_deployment: boolean;
  expected_by: string | null;
  expected_reason: string | null;
  expected_at: Stamp | null;
  unexpected: Generated<boolean>;
  created_at: GeneratedStamp;
}

export interface GovernanceWatchesTable {
  chain_id: number;
  read_to: Int8;
  complete_at: Stamp | null;
}

export interface SchemaMigrationsTable {
  name: string;
  compatible_from: string;
  applied_at: GeneratedStamp;
}

export interface RateLimitsTable {
  name: string;
  subject: string;
  count: number;
  until: Stamp;
}

export interface IdempotencyKeysTable {
  integrator_id: string;
  key: string;
  fingerprint: Buffer;
  execution: string;
  leased_until: Stamp;
  expires_at: Stamp;
  status: number | null;
  answer: Buffer | null;
}

export interface Database {
  webhook_cursors: WebhookCursorsTable;
  webhook_endpoints: WebhookEndpointsTable;
  webhook_secrets: WebhookSecretsTable;
  webhook_deliveries: WebhookDeliveriesTable;
  webhook_attempts: WebhookAttemptsTable;
  rate_limits: RateLimitsTable;
  idempotency_keys: IdempotencyKeysTable;
  key_usage: KeyUsageTable;
  pay_links: PayLinksTable;
  operators: OperatorsTable;
  operator_invitations: OperatorInvitationsTable;
  operator_passkeys: OperatorPasskeysTable;
  operator_challenges: OperatorChallengesTable;
  operator_sessions: OperatorSessionsTable;
  operator_log: OperatorLogTable;
  integrators: IntegratorsTable;
  pauses: PausesTable;
  integrator_actions: IntegratorActionsTable;
  scanner_lags: ScannerLagsTable;
  screenings: ScreeningsTable;
  screening_records: ScreeningRecordsTable;
  api_keys: ApiKeysTable;
  addresses: AddressesTable;
  address_notes: AddressNotesTable;
  chain_actions: ChainActionsTable;
  governance_changes: GovernanceChangesTable;
  governance_watches: GovernanceWatchesTable;
  scanner_blocks: ScannerBlocksTable;
  settlements: SettlementsTable;
  settlement_transitions: SettlementTransitionsTable;
  deposits: DepositsTable;
  outflows: OutflowsTable;
  balance_rounds: BalanceRoundsTable;
  fresh_wallets: FreshWalletsTable;
  scanner_finality: ScannerFinalityTable;
  scanner_orders: ScannerOrdersTable;
  lanes: LanesTable;
  transactions: TransactionsTable;
  attempts: AttemptsTable;
  lane_actions: LaneActionsTable;
  deliveries: DeliveriesTable;
  payout_searches: PayoutSearchesTable;
  bridge_transfers: BridgeTransfersTable;
  inventory_reservations: InventoryReservationsTable;
  payout_hours: PayoutHoursTable;
  backups: BackupsTable;
  moves: MovesTable;
  early_payouts: EarlyPayoutsTable;
  early_closures: EarlyClosuresTable;
  early_losses: EarlyLossesTable;
  attestations: AttestationsTable;
  attestation_answers: AttestationAnswersTable;
  events: EventsTable;
  ledger_lines: LedgerLinesTable;
  adjusted_balances: AdjustedBalancesTable;
  breaches: BreachesTable;
  audit_rounds: AuditRoundsTable;
  operator_actions: OperatorActionsTable;
  address_refunds: AddressRefundsTable;
  open_refunds: OpenRefundsView;
  refund_states: RefundStatesTable;
  rpc_budgets: RpcBudgetsTable;
  schema_migrations: SchemaMigrationsTable;
}

/** The pool, outside any transaction. */
export type Db = Kysely<Database>;
/** A database transaction of the caller. All its writes commit together. */
export type Tx = Transaction<Database>;
