/** Records refunds that were requested by address and token. The table is append-only. */
import { toAddress, toTxHash, type Address, type TxHash } from "../../core/hex.ts";
import type { Db, Tx } from "../../db/schema.ts";
import type { IntentName, TransactionState } from "../../transactions/index.ts";
import type { Holding } from "../../deposits/index.ts";

/** A refund and the state of its transaction. */
export interface AddressRefund extends Holding {
  readonly id: string;
  /** Base units of its order. */
  readonly amount: bigint;
  readonly authority: Address;
  readonly operator: string;
  readonly reason: string;
  readonly intent: IntentName;
  readonly state: TransactionState;
  /** Null until mined. */
  readonly succeeded: boolean | null;
  /** Hash of the mined attempt, else of the last signed one; null before the first. */
  readonly txHash: TxHash | null;
}

/** Returns the refund of a holding that may still be mined, by settlement or by address; null when there is none. */
export async function findOpenRefund(
  db: Db | Tx,
  { chainId, wallet, token }: Holding,
): Promise<IntentName | null> {
  const row = await db
    .selectFrom("open_refunds")
    .select("intent")
    .where("chain_id", "=", chainId)
    .where("wallet", "=", wallet)
    .where("token", "=", token)
    .executeTakeFirst();
  // CAST: the column holds intent names only.
  return (row?.intent ?? null) as IntentName | null;
}

/** Returns the newest refund of a holding that was requested by address; null when there was none. */
export async function findLastRefund(
  db: Db | Tx,
  { chainId, wallet, token }: Holding,
): Promise<AddressRefund | null> {
  const row = await db
    .selectFrom("address_refunds as refund")
    .innerJoin("transactions as sent", "sent.intent", "refund.intent")
    .selectAll("refund")
    .select(["sent.state", "sent.succeeded", "sent.mined_hash"])
    .select((eb) =>
      eb
        .selectFrom("attempts")
        .select("hash")
        .whereRef("transaction_id", "=", "sent.id")
        .orderBy("number", "desc")
        .limit(1)
        .as("signed_hash"),
    )
    .where("refund.chain_id", "=", chainId)
    .where("refund.wallet", "=", wallet)
    .where("refund.token", "=", token)
    .orderBy("refund.number", "desc")
    .limit(1)
    .executeTakeFirst();
  if (!row) return null;
  const hash = row.mined_hash ?? row.signed_hash;
  return {
    id: row.id,
    chainId: row.chain_id,
    wallet: toAddress(row.wallet),
    token: toAddress(row.token),
    amount: BigInt(row.amount),
    authority: toAddress(row.refund_to),
    operator: row.operator,
    reason: row.reason,
    // CAST: held by the columns' check constraints.
    intent: row.intent as IntentName,
    state: row.state as TransactionState,
    succeeded: row.succeeded,
    txHash: hash === null ? null : toTxHash(hash),
  };
}

/** Counts the refunds of a holding that were ever requested by address. */
export async function countRefunds(
  db: Db | Tx,
  { chainId, wallet, token }: Holding,
): Promise<bigint> {
  const { count } = await db
    .selectFrom("address_refunds")
    .select((eb) => eb.fn.countAll<bigint>().as("count"))
    .where("chain_id", "=", chainId)
    .where("wallet", "=", wallet)
    .where("token", "=", token)
    .executeTakeFirstOrThrow();
  return count;
}

/** Records a refund, in the transaction that queues its order. Returns the order's intent. */
export async function insertRefund(
  tx: Tx,
  refund: Omit<AddressRefund, "intent" | "state" | "succeeded" | "txHash"> & {
    readonly addressId: string;
  },
): Promise<IntentName> {
  const { intent } = await tx
    .insertInto("address_refunds")
    .values({
      id: refund.id,
      address_id: refund.addressId,
      chain_id: refund.chainId,
      wallet: refund.wallet,
      token: refund.token,
      amount: refund.amount,
      refund_to: refund.authority,
      operator: refund.operator,
      reason: refund.reason,
    })
    .returning("intent")
    .executeTakeFirstOrThrow();
  // CAST: the database generates the intent name.
  return intent as IntentName;
}
