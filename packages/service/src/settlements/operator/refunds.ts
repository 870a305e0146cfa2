/** Records refunds that were requested by address and token. The table is append-only. */
import type { RefundState } from "@sluice/sdk/wire";
import { sql } from "kysely";
import { toAddress, toTxHash, type Address, type TxHash } from "../../core/hex.ts";
import { formatStamp } from "../../core/stamp.ts";
import { eachOf, gatherCalls } from "../../db/gather.ts";
import type { Db, Tx } from "../../db/schema.ts";
import type { RefundReason } from "../../core/refund-reason.ts";
import type { AttestationId } from "../../routes/index.ts";
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
  /** Terms that attestors are asked to sign; null where the signer pays without them. */
  readonly attested: AttestedTerms | null;
  /** Null until it is sent, which only a refund that attestors sign waits for. */
  readonly state: TransactionState | null;
  /** Null until mined. */
  readonly succeeded: boolean | null;
  /** Hash of the mined attempt, else of the last signed one; null before the first. */
  readonly txHash: TxHash | null;
}

/** The terms of a refund by policy. */
export interface AttestedTerms {
  readonly reason: RefundReason;
  /** Unix seconds in which the contract accepts the signatures for the last time. */
  readonly deadline: bigint;
  readonly attestationId: AttestationId;
}

/** Returns the refund of a holding that may still be mined, by settlement or by address; null when there is none. */
export const findOpenRefund = gatherCalls(async (db, holdings: readonly Holding[]) => {
  const { rows } = await sql<{ intent: IntentName | null }>`
    select (select intent from open_refunds
             where chain_id = held.chain_id and wallet = held.wallet and token = held.token limit 1) as intent
      from ${eachOf(holdings)} order by held.place`.execute(db);
  return rows.map(({ intent }) => intent);
});

/** Returns the newest refund of a holding that was requested by address; null when there was none. */
export async function findLastRefund(
  db: Db | Tx,
  { chainId, wallet, token }: Holding,
): Promise<AddressRefund | null> {
  const row = await selectRefunds(db)
    .where("refund.chain_id", "=", chainId)
    .where("refund.wallet", "=", wallet)
    .where("refund.token", "=", token)
    .orderBy("refund.number", "desc")
    .limit(1)
    .executeTakeFirst();
  return row ? parseRefund(row) : null;
}

/** Lists refunds by policy that no transaction carries and whose deadline is not before a time, the oldest first. */
export async function listUnsentRefunds(
  db: Db,
  of: { readonly chainId: number; readonly deadlineMin: bigint; readonly limit: number },
): Promise<readonly AddressRefund[]> {
  const rows = await selectRefunds(db)
    .where("refund.chain_id", "=", of.chainId)
    .where("refund.deadline", ">=", of.deadlineMin)
    .where("sent.id", "is", null)
    .orderBy("refund.number")
    .limit(of.limit)
    .execute();
  return rows.map(parseRefund);
}

/** Filters of a list of refunds; undefined matches every refund. */
export interface RefundFilter {
  readonly wallet?: Address | undefined;
  readonly chainId?: number | undefined;
  readonly userId?: string | undefined;
  readonly token?: Address | undefined;
  /** The state that was announced last. */
  readonly state?: RefundState | undefined;
  /** Requested at or after. */
  readonly from?: string | undefined;
  /** Requested before. */
  readonly to?: string | undefined;
}

/** Lists the refunds of an integrator that were requested by address, the newest first, after a position. */
export async function listRefundsOf(
  db: Db,
  integratorId: string,
  page: {
    readonly limit: number;
    readonly cursor: { readonly at: string; readonly id: string } | undefined;
    readonly filter: RefundFilter & { readonly id?: string | undefined };
  },
): Promise<readonly ListedRefund[]> {
  const { id, wallet, chainId, userId, token, state, from, to } = page.filter;
  const place = state === undefined ? sql`refund.at, refund.id` : sql`listed.at, listed.refund_id`;
  const order =
    state === undefined
      ? sql`refund.at desc, refund.id desc`
      : sql`listed.at desc, listed.refund_id desc`;
  let query = selectRefunds(db)
    .innerJoin("refund_states as listed", "listed.refund_id", "refund.id")
    .where("refund.integrator_id", "=", integratorId)
    .orderBy(order)
    .limit(page.limit);
  if (page.cursor) {
    query = query.where(
      sql<boolean>`(${place}) < (${page.cursor.at}::timestamptz, ${page.cursor.id}::uuid)`,
    );
  }
  if (id !== undefined) query = query.where("refund.id", "=", id);
  if (wallet !== undefined) query = query.where("refund.wallet", "=", wallet);
  if (chainId !== undefined) query = query.where("refund.chain_id", "=", chainId);
  if (userId !== undefined) query = query.where("refund.user_id", "=", userId);
  if (token !== undefined) query = query.where("refund.token", "=", token);
  if (from !== undefined) query = query.where("refund.at", ">=", from);
  if (to !== undefined) query = query.where("refund.at", "<", to);
  if (state !== undefined) {
    // The index of this table has the order of the page.
    query = query
      .where("listed.integrator_id", "=", integratorId)
      .where(sql<boolean>`coalesce(listed.state, 'requested') = ${state}`);
  }
  const rows = await query.execute();
  return rows.map((row) => ({
    ...parseRefund(row),
    addressId: row.address_id,
    requestedAt: row.at,
  }));
}

/** A refund with the state that was announced last; null before the first. */
export interface AnnouncedRefund extends AddressRefund {
  readonly number: bigint;
  readonly addressId: string;
  readonly announced: RefundState | null;
}

/** Lists the refunds of a chain whose announced state is not final, in the order of their requests, after a number. */
export async function listOpenStates(
  db: Db,
  page: { readonly chainId: number; readonly after: bigint; readonly limit: number },
): Promise<readonly AnnouncedRefund[]> {
  const rows = await selectRefunds(db)
    .innerJoin("refund_states as announced", "announced.refund_id", "refund.id")
    .select("announced.state as announced_state")
    .where("announced.chain_id", "=", page.chainId)
    .where("announced.number", ">", page.after)
    .where(
      sql<boolean>`(announced.state is null or announced.state in ('requested', 'sent', 'mined'))`,
    )
    .orderBy("announced.number")
    .limit(page.limit)
    .execute();
  return rows.map((row) => ({
    ...parseRefund(row),
    number: row.number,
    addressId: row.address_id,
    // CAST: held by the column's check constraint.
    announced: row.announced_state as RefundState | null,
  }));
}

/** Records a state as announced. Returns false if another process announced one meanwhile. */
export async function putState(
  tx: Tx,
  { id, announced }: AnnouncedRefund,
  state: RefundState,
): Promise<boolean> {
  const { numUpdatedRows } = await tx
    .updateTable("refund_states")
    .set({ state })
    .where("refund_id", "=", id)
    .where("state", "is not distinct from", announced)
    .executeTakeFirstOrThrow();
  return numUpdatedRows === 1n;
}

/** A refund with its address and time. */
export interface ListedRefund extends AddressRefund {
  readonly addressId: string;
  readonly requestedAt: string;
}

const selectRefunds = (db: Db | Tx) =>
  db
    .selectFrom("address_refunds as refund")
    .leftJoin("transactions as sent", "sent.intent", "refund.intent")
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
    );

type RefundRow = Awaited<ReturnType<ReturnType<typeof selectRefunds>["executeTakeFirstOrThrow"]>>;

function parseRefund(row: RefundRow): AddressRefund {
  const { policy_reason: reason, deadline, attestation_id: attestationId } = row;
  const hash = row.mined_hash ?? row.signed_hash;
  // CAST: a check constraint, and a reference to a request for a refund.
  const terms = { reason: reason as RefundReason, attestationId: attestationId as AttestationId };
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
    attested: reason === null || deadline === null ? null : { ...terms, deadline },
    // CAST: held by the column's check constraint.
    state: row.state as TransactionState | null,
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

/** Records a refund, in the transaction that queues its order or asks the attestors. Returns the order's intent. */
export async function insertRefund(
  tx: Tx,
  refund: Omit<AddressRefund, "intent" | "state" | "succeeded" | "txHash"> & {
    readonly addressId: string;
    readonly atMs: number;
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
      at: formatStamp(refund.atMs),
      policy_reason: refund.attested?.reason ?? null,
      deadline: refund.attested?.deadline ?? null,
      attestation_id: refund.attested?.attestationId ?? null,
    })
    .returning("intent")
    .executeTakeFirstOrThrow();
  // CAST: the database generates the intent name.
  return intent as IntentName;
}
