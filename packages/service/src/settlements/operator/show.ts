/** Everything that is known about one settlement, for whoever has to understand why it stands where it does. */
import { isTerminal } from "@sluice/sdk/wire";
import { type DepositAddress, getAddressById } from "../../addresses/index.ts";
import type { Db } from "../../db/schema.ts";
import { type FeeItems, itemise } from "../../fees/index.ts";
import { listActions, type RecordedAction } from "./actions.ts";
import { hasValueInFlight } from "../in-flight.ts";
import { findOpenRefund } from "./refunds.ts";
import { getError, getSettlement } from "../store.ts";
import type { Settlement, SettlementError } from "../types.ts";

export interface SettlementFile {
  readonly settlement: Settlement;
  readonly address: DepositAddress;
  readonly integrator: string;
  readonly createdAt: string;
  readonly updatedAt: string;
  readonly error: SettlementError | null;
  /** When a failing settlement is tried again. */
  readonly retryAt: string | null;
  /** When a worker looks at it next; of a dead one, when it is looked for a refund. */
  readonly nextCheckAt: string | null;
  /** What the sweep takes, or took, out of the deposit; null until one was planned. */
  readonly fees: FeeItems | null;
  readonly deliveredAmount: bigint | null;
  readonly deliveryTxHash: string | null;
  readonly history: readonly ShownTransition[];
  readonly deposits: readonly ShownDeposit[];
  readonly transactions: readonly ShownTransaction[];
  readonly deliveries: readonly ShownDelivery[];
  readonly transfers: readonly ShownTransfer[];
  readonly actions: readonly RecordedAction[];
  /** The refund of what its deposit address holds that may still be mined, by whatever it was asked for. */
  readonly openRefund: string | null;
}

export interface ShownTransition {
  readonly at: string;
  readonly from: string;
  readonly to: string;
  readonly errorCode: string | null;
  readonly txHash: string | null;
}

export interface ShownDeposit {
  readonly amount: bigint;
  /** Null where the balance alone showed it. */
  readonly txHash: string | null;
  readonly sender: string | null;
  readonly block: bigint;
  readonly detectedAt: string;
  /** When its block left the chain, if it did. */
  readonly orphanedAt: string | null;
}

export interface ShownTransaction {
  readonly intent: string;
  readonly chainId: number;
  readonly state: string;
  /** Null until mined. */
  readonly succeeded: boolean | null;
  readonly minedHash: string | null;
  readonly minedBlock: bigint | null;
  /** The lane that sends it. */
  readonly lane: string;
  /** Its own, or that of the batch that carries it. */
  readonly nonce: number | null;
  readonly createdAt: string;
  /** What was signed for it, oldest first; of a batch that carries it, the batch's. */
  readonly attempts: readonly ShownAttempt[];
}

export interface ShownAttempt {
  readonly hash: string;
  readonly maxFeePerGas: bigint;
  readonly signedAt: string;
  readonly sentAt: string | null;
  /** Whether a node took it. */
  readonly accepted: boolean;
}

/** A lock in the escrow, and what became of it. */
export interface ShownDelivery {
  readonly id: string;
  readonly state: string;
  readonly lockedAmount: bigint;
  readonly payAmount: bigint;
  readonly deliveredTxHash: string | null;
  readonly claimedTxHash: string | null;
  readonly trouble: string | null;
  readonly createdAt: string;
}

/** A burn for the bridge, and what became of it. */
export interface ShownTransfer {
  readonly id: string;
  readonly state: string;
  readonly burnedAmount: bigint;
  readonly burnTxHash: string;
  /** Null until the attestation service gave it one. */
  readonly nonce: string | null;
  /** Why its attestation takes longer, as the service says. */
  readonly delayReason: string | null;
  readonly mintTxHash: string | null;
  readonly trouble: string | null;
  readonly createdAt: string;
}

/** Reads a settlement with everything about it, or null when there is none of that id. */
export async function readSettlementFile(db: Db, id: string): Promise<SettlementFile | null> {
  // One point of view: the service goes on meanwhile.
  return db
    .transaction()
    .setIsolationLevel("repeatable read")
    .execute(async (tx) => {
      const settlement = await getSettlement(tx, id);
      if (!settlement) return null;
      const row = await tx
        .selectFrom("settlements")
        .innerJoin("integrators", "integrators.id", "settlements.integrator_id")
        .selectAll("settlements")
        .select("integrators.name")
        .where("settlements.id", "=", id)
        .executeTakeFirstOrThrow();
      const address = await getAddressById(tx, settlement.addressId);
      return {
        settlement,
        address,
        fees: itemiseOf(settlement, address),
        integrator: row.name,
        createdAt: row.created_at,
        updatedAt: row.updated_at,
        error: await getError(tx, id),
        retryAt: row.retry_at,
        nextCheckAt: row.next_check_at,
        deliveredAmount: row.delivered_amount === null ? null : BigInt(row.delivered_amount),
        deliveryTxHash: row.delivery_tx_hash,
        history: await listHistory(tx, id),
        deposits: await listDepositsOf(tx, settlement),
        transactions: await listTransactions(tx, id),
        deliveries: await listDeliveries(tx, id),
        transfers: await listTransfers(tx, id),
        actions: await listActions(tx, id),
        openRefund: await findOpenRefund(tx, settlement),
      };
    });
}

function itemiseOf(settlement: Settlement, { commitment }: DepositAddress): FeeItems | null {
  const { fee, sweptAmount, plannedAmount } = settlement;
  const amount = sweptAmount ?? plannedAmount;
  return fee && amount !== null ? itemise(amount, fee, commitment.maxFeeBps) : null;
}

/** Where the value of a settlement is now, as far as is recorded. */
export type ValuePlace =
  /** It waits in the deposit address. */
  | "deposit_address"
  /** A sweep is on its way and may still fail. */
  | "sweeping"
  /** Locked, or swept and not seen at its recipient yet. */
  | "escrow"
  | "recipient"
  | "refund_authority"
  /** Its deposits left the chain. */
  | "nowhere"
  /** It has no deposits of its own: a later settlement took them, or none was ever seen. */
  | "elsewhere";

/** What the record says about where the value is. */
export function locateValue(file: SettlementFile): ValuePlace {
  const { settlement, error, deposits, deliveries } = file;
  if (settlement.status === "completed") return "recipient";
  if (deliveries.some(({ state }) => state === "taken_back")) return "refund_authority";
  if (error?.details?.["reason"] === "refunded") return "refund_authority";
  if (settlement.step === "deliver") return "escrow";
  if (hasValueInFlight(settlement)) return "sweeping";
  if (error?.code === "REORG" && settlement.status === "dead") return "nowhere";
  if (settlement.status === "dead" && deposits.length === 0) return "elsewhere";
  return "deposit_address";
}

/** What a settlement waits for, in words; null where it is final, but for a refund on its way. */
export function explainWait(file: SettlementFile): string | null {
  const { settlement, error, retryAt, transactions, deliveries, transfers, openRefund } = file;
  const open = transactions.findLast(({ state }) => state !== "final" && state !== "abandoned");
  if (settlement.status === "dead" && open?.intent.startsWith("refund:")) return describeOpen(open);
  if (isTerminal(settlement.status)) return null;
  if (open && hasValueInFlight(settlement) && settlement.step === "sweep")
    return describeOpen(open);
  const lock = deliveries.findLast(({ state }) => state !== "returned" && state !== "taken_back");
  if (settlement.step === "deliver" && lock) {
    const trouble = error ?? lock.trouble;
    const why =
      trouble === null ? "" : `: ${typeof trouble === "string" ? trouble : trouble.message}`;
    return `the delivery of lock ${lock.id} (${lock.state})${why}`;
  }
  const transfer = transfers.findLast(({ state }) => state !== "superseded");
  if (settlement.step === "deliver" && transfer) {
    const why = error?.message ?? transfer.trouble ?? transfer.delayReason;
    return `the bridge (${transfer.state})${why === null ? "" : `: ${why}`}`;
  }
  if (settlement.step === "deliver") return "its payment to be seen under enough blocks";
  if (openRefund !== null) return `${openRefund} to be over: then what is left is swept`;
  if (error) return `${error.code}: ${error.message}${retryAt === null ? " It is due now." : ""}`;
  if (open) return describeOpen(open);
  return "a worker to look at it; does a settler run?";
}

function describeOpen({ intent, state, attempts }: ShownTransaction): string {
  switch (state) {
    case "queued":
      return `${intent} to get a place in its lane`;
    case "mined":
      return `${intent} to be final`;
    default:
      return attempts.some(({ accepted }) => accepted)
        ? `${intent} to be mined, ${attempts.length} attempt(s) sent`
        : `${intent} to be taken by a node, ${attempts.length} attempt(s) signed`;
  }
}

async function listHistory(db: Db, id: string): Promise<ShownTransition[]> {
  const rows = await db
    .selectFrom("settlement_transitions")
    .selectAll()
    .where("settlement_id", "=", id)
    .orderBy("version")
    .execute();
  return rows.map((row) => ({
    at: row.at,
    from: row.from_status,
    to: row.to_status,
    errorCode: row.error_code,
    txHash: row.tx_hash,
  }));
}

async function listDepositsOf(db: Db, settlement: Settlement): Promise<ShownDeposit[]> {
  const rows = await db
    .selectFrom("deposits")
    .selectAll()
    // By the holding, which has an index.
    .where("chain_id", "=", settlement.chainId)
    .where("wallet", "=", settlement.wallet)
    .where("token", "=", settlement.token)
    .where("settlement_id", "=", settlement.id)
    .orderBy("block_number")
    .orderBy("log_index")
    .execute();
  return rows.map((row) => ({
    amount: BigInt(row.amount),
    txHash: row.tx_hash,
    sender: row.sender,
    block: row.block_number,
    detectedAt: row.detected_at,
    orphanedAt: row.orphaned_at,
  }));
}

async function listTransactions(db: Db, id: string): Promise<ShownTransaction[]> {
  const rows = await db
    .selectFrom("transactions")
    .leftJoin("transactions as carrier", "carrier.id", "transactions.carrier_id")
    .selectAll("transactions")
    .select("carrier.nonce as carrier_nonce")
    .where("transactions.settlement_id", "=", id)
    .orderBy("transactions.created_at")
    .orderBy("transactions.id")
    .execute();
  return Promise.all(
    rows.map(async (row) => ({
      intent: row.intent,
      chainId: row.chain_id,
      state: row.state,
      succeeded: row.succeeded,
      minedHash: row.mined_hash,
      minedBlock: row.mined_block_number,
      lane: row.lane,
      nonce: row.nonce ?? row.carrier_nonce,
      createdAt: row.created_at,
      attempts: await listAttempts(db, row.carrier_id ?? row.id),
    })),
  );
}

async function listAttempts(db: Db, transactionId: string): Promise<ShownAttempt[]> {
  const rows = await db
    .selectFrom("attempts")
    .select(["hash", "max_fee_per_gas", "created_at", "sent_at", "accepted"])
    .where("transaction_id", "=", transactionId)
    .orderBy("number")
    .execute();
  return rows.map((row) => ({
    hash: row.hash,
    maxFeePerGas: BigInt(row.max_fee_per_gas),
    signedAt: row.created_at,
    sentAt: row.sent_at,
    accepted: row.accepted,
  }));
}

async function listDeliveries(db: Db, id: string): Promise<ShownDelivery[]> {
  const rows = await db
    .selectFrom("deliveries")
    .selectAll()
    .where("settlement_id", "=", id)
    .orderBy("created_at")
    .execute();
  return rows.map((row) => ({
    id: row.id,
    state: row.state,
    lockedAmount: BigInt(row.locked_amount),
    payAmount: BigInt(row.pay_amount),
    deliveredTxHash: row.delivered_tx_hash,
    claimedTxHash: row.claimed_tx_hash,
    trouble: row.trouble?.message ?? null,
    createdAt: row.created_at,
  }));
}

async function listTransfers(db: Db, id: string): Promise<ShownTransfer[]> {
  const rows = await db
    .selectFrom("bridge_transfers")
    .selectAll()
    .where("settlement_id", "=", id)
    .orderBy("created_at")
    .execute();
  return rows.map((row) => ({
    id: row.id,
    state: row.state,
    burnedAmount: BigInt(row.burned_amount),
    burnTxHash: row.burn_tx_hash,
    nonce: row.nonce,
    delayReason: row.delay_reason,
    mintTxHash: row.mint_tx_hash,
    trouble: row.trouble?.message ?? null,
    createdAt: row.created_at,
  }));
}
