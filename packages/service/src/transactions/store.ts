/**
 * The table `transactions`: one row per intent. A change of state is one statement with the expected state in its `where`
 * clause, so a caller with an outdated view changes nothing and learns it from the result.
 *
 * Invariant: a row never gets another call or, once assigned on a chain with nonces, another nonce.
 */
import { type RawBuilder, type Selectable, sql, type SqlBool } from "kysely";
import { assert } from "../core/assert.ts";
import { compare } from "../core/compare.ts";
import { type Address, type Hex, toAddress, toHex32, toTxHash, type TxHash } from "../core/hex.ts";
import { formatStamp } from "../core/stamp.ts";
import type { TransactionsTable } from "../db/chain-tables.ts";
import { literal, literals } from "../db/literals.ts";
import { gather, gatherLists } from "../db/gather.ts";
import type { Db, Tx } from "../db/schema.ts";
import { takeTurns, type Turn } from "../jobs/turns.ts";
import type {
  IntentName,
  LaneTransaction,
  MinedFacts,
  TransactionFacts,
  TransactionState,
} from "./types.ts";

/** An intent to insert. */
export interface NewIntent {
  readonly id: string;
  readonly chainId: number;
  readonly lane: Address;
  readonly intent: IntentName;
  readonly settlementId: string | null;
  readonly to: Address;
  readonly data: Hex;
  readonly value: bigint;
  readonly gas: bigint;
}

/** Inserts intents in state `queued`. Does nothing about one whose name exists. */
export async function insertIntents(tx: Db | Tx, intents: readonly NewIntent[]): Promise<void> {
  if (intents.length === 0) return;
  // Each row locks its settlement; everything locks settlements in the order of their ids.
  const ordered = intents.toSorted((a, b) => compare(a.settlementId ?? "", b.settlementId ?? ""));
  await tx
    .insertInto("transactions")
    .values(
      ordered.map((row) => ({
        id: row.id,
        chain_id: row.chainId,
        lane: row.lane,
        intent: row.intent,
        settlement_id: row.settlementId,
        to_address: row.to,
        data: row.data,
        value: row.value,
        gas: row.gas,
        state: "queued",
      })),
    )
    // The name is unique permanently: a step that is repeated after a crash submits its effect once.
    .onConflict((conflict) => conflict.column("intent").doNothing())
    .execute();
}

/** Returns the transaction of an intent, or null if the intent was never submitted. */
export const getByIntent = gather(async (db, intents: readonly IntentName[]) => {
  const rows = await db
    .selectFrom("transactions")
    .selectAll()
    .where(sql<boolean>`intent = any(${intents}::text[])`)
    .execute();
  return rows.map((row) => [row.intent, row] as const);
}, parseTransaction);

/** More than the number of a settlement's transactions that can concern one lock. */
const HINTS_MAX = 12;

/** Returns hashes of a settlement's successful transactions on any chain, newest first: hints where to find its events. */
export async function listMinedHashes(db: Db | Tx, settlementId: string): Promise<TxHash[]> {
  return (await readMinedHashes(db, settlementId)) ?? [];
}

const readMinedHashes = gather(
  async (db, settlementIds: readonly string[]) => {
    const { rows } = await sql<{ settlement_id: string; hashes: string[] }>`
    select asked.id as settlement_id,
           array(select mined_hash from transactions
             where settlement_id = asked.id and mined_hash is not null and succeeded
             order by created_at desc limit ${HINTS_MAX}) as hashes
      from unnest(${settlementIds}::uuid[]) as asked (id)`.execute(db);
    return rows.map((row) => [row.settlement_id, row.hashes] as const);
  },
  (hashes) => hashes.map(toTxHash),
);

/**
 * Returns the block from which on the sweeps of a settlement can do nothing more, zero without any; null while one of them may
 * still take effect, or lose it by a reorg.
 */
export async function findEndOfSweeps(db: Db, settlementId: string): Promise<bigint | null> {
  const { open, last } = await db
    .selectFrom("transactions")
    .select((eb) => [
      eb.fn.countAll<string>().filterWhere("state", "not in", ["final", "abandoned"]).as("open"),
      eb.fn.max("mined_block_number").as("last"),
    ])
    .where("settlement_id", "=", settlementId)
    .where("intent", "like", "sweep:%")
    .executeTakeFirstOrThrow();
  return Number(open) > 0 ? null : (last ?? 0n);
}

/**
 * Reports whether a sweep that was seen to be mined finally took nothing: after a reorg it reverted in a final block, another
 * attempt was mined in its place, or none was.
 */
export async function isSweepUndone(
  db: Db,
  { settlementId, txHash }: { readonly settlementId: string; readonly txHash: string },
): Promise<boolean> {
  const row = await db
    .selectFrom("transactions")
    .select("id")
    .where("settlement_id", "=", settlementId)
    .where("intent", "like", "sweep:%")
    .where((eb) =>
      eb.or([
        eb("mined_hash", "=", txHash),
        eb.exists(
          eb
            .selectFrom("attempts")
            .select("hash")
            .whereRef("transaction_id", "=", "transactions.id")
            .where("hash", "=", txHash),
        ),
      ]),
    )
    .where((eb) =>
      eb.or([
        eb("state", "=", "abandoned"),
        eb.and([
          eb("state", "=", "final"),
          eb.or([eb("succeeded", "=", false), eb("mined_hash", "!=", txHash)]),
        ]),
      ]),
    )
    .executeTakeFirst();
  return row !== undefined;
}

/** Selects the queued intents of a lane in the order in which they get nonces: integrators take turns, oldest first. */
export function takeQueued(
  lane: { readonly chainId: number; readonly address: Address },
  { limit, due = sql`true` }: { readonly limit: number; readonly due?: RawBuilder<SqlBool> },
): RawBuilder<Turn> {
  return takeTurns({
    table: "transactions",
    open: sql`chain_id = ${lane.chainId} and lane = ${lane.address} and state = 'queued'`,
    due,
    since: "created_at",
    limit,
  });
}

/** Returns the queued intents of a lane whose turn is next. */
export async function listQueued(
  db: Db,
  lane: { chainId: number; address: Address },
  {
    limit,
    nowMs,
    claimsOnly = false,
  }: { readonly limit: number; readonly nowMs: number; readonly claimsOnly?: boolean },
): Promise<LaneTransaction[]> {
  const chosen = claimsOnly ? sql`intent like 'claim:%'` : sql`true`;
  const due = sql<boolean>`not solo and (retry_at is null or retry_at <= ${formatStamp(nowMs)}) and ${chosen}`;
  const rows = await db
    .selectFrom("transactions")
    .innerJoin(takeQueued(lane, { limit, due }).as("turns"), (join) =>
      join.onRef("turns.id", "=", "transactions.id"),
    )
    .selectAll("transactions")
    .orderBy("turns.place")
    .execute();
  return rows.map(parseTransaction);
}

/** A batch to insert. */
export interface NewBatch extends Omit<NewIntent, "settlementId"> {
  readonly memberIds: readonly string[];
}

/** Inserts batches and assigns their members to them. Throws `Bug` and inserts nothing if a member is no longer queued. */
export async function insertBatches(db: Db, batches: readonly NewBatch[]): Promise<void> {
  const members = batches.flatMap(({ id, memberIds }) =>
    memberIds.map((memberId) => ({ id: memberId, carrierId: id })),
  );
  await db.transaction().execute(async (tx) => {
    // The settlement of each call is that of its member: a batch belongs to none.
    await insertIntents(
      tx,
      batches.map((batch) => ({ ...batch, settlementId: null })),
    );
    const { numAffectedRows } = await sql`
      update "transactions" as member set state = 'carried', carrier_id = given.carrier
        from unnest(${members.map(({ id }) => id)}::uuid[], ${members.map(({ carrierId }) => carrierId)}::uuid[])
          as given (id, carrier)
       where member.id = given.id and member.state = 'queued'`.execute(tx);
    assert(Number(numAffectedRows) === members.length, "one process works on a lane");
  });
}

/** Inserts the transaction that fills a nonce; the nonce is free and the caller holds the lane's row. */
export async function insertFill(
  tx: Tx,
  lane: { readonly chainId: number; readonly address: Address },
  fill: {
    readonly id: string;
    readonly nonce: number;
    readonly call: LaneTransaction["call"];
    readonly gas: bigint;
  },
): Promise<void> {
  const { to, data, value } = fill.call;
  const intent: IntentName = `fill:${fill.id}:1`;
  await tx
    .insertInto("transactions")
    .values({
      id: fill.id,
      chain_id: lane.chainId,
      lane: lane.address,
      intent,
      settlement_id: null,
      to_address: to,
      data,
      value,
      gas: fill.gas,
      state: "assigned",
      nonce: fill.nonce,
    })
    .execute();
}

/** Abandons a queued batch that was never signed; its members are sent one by one. */
export async function dissolveBatch(tx: Tx, id: string): Promise<void> {
  await tx
    .updateTable("transactions")
    .set({ state: "queued", carrier_id: null, solo: true })
    .where("carrier_id", "=", id)
    .where("state", "=", "carried")
    .execute();
  await recordGivenUp(tx, id);
}

/** Moves a queued transaction that was never signed to `abandoned`. */
export async function recordGivenUp(tx: Tx, id: string): Promise<void> {
  await tx
    .updateTable("transactions")
    .set({ state: "abandoned" })
    .where("id", "=", id)
    .where("state", "=", "queued")
    .execute();
}

/** Gives up the call of an unmined transaction: from now on only a transfer of nothing is signed for its nonce. */
export async function recordCancelled(db: Db | Tx, id: string): Promise<void> {
  await db
    .updateTable("transactions")
    .set({ cancelled: true })
    .where("id", "=", id)
    .where("state", "=", "assigned")
    .execute();
}

/** Returns the members of a batch in the order in which they were queued. */
export const listMembers = gatherLists(async (db, carrierIds) => {
  const rows = await db
    .selectFrom("transactions")
    .selectAll()
    .where(sql<boolean>`carrier_id = any(${carrierIds}::uuid[])`)
    .orderBy("created_at")
    .orderBy("id")
    .execute();
  return rows.map((row) => [row.carrier_id ?? "", row] as const);
}, parseTransaction);

const membersOf = new WeakMap<LaneTransaction, Promise<readonly LaneTransaction[]>>();

/** Returns the members of an assigned batch, which keeps them. Read once for each time that its row was read. */
export function readMembers(db: Db, batch: LaneTransaction): Promise<readonly LaneTransaction[]> {
  const members = membersOf.get(batch) ?? listMembers(db, batch.id);
  membersOf.set(batch, members);
  return members;
}

/** Returns the assigned transactions of a lane, lowest nonce first, without members of batches. */
export async function listAssigned(
  db: Db,
  lane: { chainId: number; address: Address },
): Promise<LaneTransaction[]> {
  const rows = await selectByState(db, lane, "assigned").selectAll().execute();
  return rows.map(parseTransaction);
}

/** Returns the mined transactions of a lane that are not final, lowest nonce first, without members of batches. */
export async function listMined(
  db: Db,
  lane: { chainId: number; address: Address },
): Promise<TransactionFacts[]> {
  const rows = await selectByState(db, lane, "mined").select(FACTS).execute();
  return rows.map(parseFacts);
}

function selectByState(
  db: Db,
  lane: { chainId: number; address: Address },
  state: TransactionState,
) {
  return db
    .selectFrom("transactions")
    .where("chain_id", "=", lane.chainId)
    .where("lane", "=", lane.address)
    .where("state", "=", literal(state))
    .where("carrier_id", "is", null)
    .orderBy("nonce");
}

/** Moves transactions from `assigned` or `carried` to `mined`, each with its own outcome. Returns the ids of the moved ones. */
export async function recordMined(
  tx: Tx,
  transactions: readonly { readonly id: string; readonly mined: MinedFacts }[],
): Promise<ReadonlySet<string>> {
  const facts = transactions.map(({ mined }) => mined);
  const { rows } = await sql<{ id: string }>`
    update "transactions" as moved
       set state = 'mined', succeeded = given.succeeded, mined_hash = given.hash,
           mined_block_hash = given.block_hash, mined_block_number = given.block_number, gas_cost = given.gas_cost
      from unnest(
        ${transactions.map(({ id }) => id)}::uuid[], ${facts.map(({ succeeded }) => succeeded)}::boolean[],
        ${facts.map(({ txHash }) => txHash)}::text[], ${facts.map(({ blockHash }) => blockHash)}::text[],
        ${facts.map(({ blockNumber }) => blockNumber)}::bigint[], ${facts.map(({ gasCost }) => gasCost)}::numeric[]
      ) as given (id, succeeded, hash, block_hash, block_number, gas_cost)
     where moved.id = given.id and moved.state in ('assigned', 'carried') returning moved.id`.execute(
    tx,
  );
  return new Set(rows.map(({ id }) => id));
}

/** Moves an `assigned` transaction and its members to `abandoned`; returns the moved transactions. */
export async function recordAbandoned(tx: Tx, id: string): Promise<LaneTransaction[]> {
  const rows = await tx
    .updateTable("transactions")
    .set({ state: "abandoned" })
    .where((eb) => eb.or([eb("id", "=", id), eb("carrier_id", "=", id)]))
    .where("state", "in", literals(["assigned", "carried"]))
    .returningAll()
    .execute();
  return rows.map(parseTransaction);
}

/**
 * Moves an `assigned` transaction back to `queued` until a time in milliseconds since the epoch. Only for chains without
 * nonces, and only when none of its attempts can be mined any more.
 */
export async function reschedule(db: Db, id: string, untilMs: number): Promise<void> {
  await db
    .updateTable("transactions")
    .set({ state: "queued", nonce: null, retry_at: formatStamp(untilMs) })
    .where("id", "=", id)
    .where("state", "=", "assigned")
    .execute();
}

/** Moves an orphaned transaction from `mined` back to `assigned` or `carried`. Returns false if it was not `mined`. */
export async function recordOrphaned(tx: Tx, id: string): Promise<boolean> {
  const result = await tx
    .updateTable("transactions")
    .set({
      state: sql<string>`case when carrier_id is null then 'assigned' else 'carried' end`,
      succeeded: null,
      mined_hash: null,
      mined_block_hash: null,
      mined_block_number: null,
      gas_cost: null,
    })
    .where("id", "=", id)
    .where("state", "=", "mined")
    .executeTakeFirst();
  if (result.numUpdatedRows !== 1n) return false;
  // Nodes may have dropped it together with the block, so its bytes are rebroadcast.
  await tx
    .updateTable("attempts")
    .set({ accepted: false, sends: 0 })
    .where("transaction_id", "=", id)
    .execute();
  return true;
}

/** Moves transactions and their members from `mined` to `final`. Returns the moved ones. */
export async function recordFinal(tx: Tx, ids: readonly string[]): Promise<TransactionFacts[]> {
  const rows = await tx
    .updateTable("transactions")
    .set({ state: "final" })
    .where((eb) =>
      eb.or([
        sql<boolean>`id = any(${ids}::uuid[])`,
        // Members move with their batch: one that another process moved before is there too.
        sql<boolean>`carrier_id = any(${ids}::uuid[])`,
      ]),
    )
    .where("state", "=", literal("mined"))
    .returning(FACTS)
    .execute();
  return rows.map(parseFacts);
}

/** The columns of `TransactionFacts`. */
const FACTS = [
  "id",
  "chain_id",
  "lane",
  "intent",
  "settlement_id",
  "nonce",
  "state",
  "cancelled",
  "succeeded",
  "mined_hash",
  "mined_block_hash",
  "mined_block_number",
  "gas_cost",
] as const satisfies (keyof TransactionsTable)[];

type FactsRow = Pick<Selectable<TransactionsTable>, (typeof FACTS)[number]>;

function parseTransaction(row: Selectable<TransactionsTable>): LaneTransaction {
  return {
    ...parseFacts(row),
    // CAST: written as Hex by insertIntent.
    call: { to: toAddress(row.to_address), data: row.data as Hex, value: BigInt(row.value) },
    gas: row.gas,
  };
}

function parseFacts(row: FactsRow): TransactionFacts {
  return {
    id: row.id,
    chainId: row.chain_id,
    lane: toAddress(row.lane),
    // CAST: written by insertIntent only, whose type is the same.
    intent: row.intent as IntentName,
    settlementId: row.settlement_id,
    nonce: row.nonce,
    // CAST: held by the column's check constraint.
    state: row.state as TransactionState,
    cancelled: row.cancelled,
    mined: parseMined(row),
  };
}

function parseMined(row: FactsRow): MinedFacts | null {
  if (row.mined_hash === null) return null;
  assert(
    row.mined_block_hash !== null && row.mined_block_number !== null && row.succeeded !== null,
    "a mined transaction names its block",
  );
  return {
    txHash: toTxHash(row.mined_hash),
    blockHash: toHex32(row.mined_block_hash),
    blockNumber: row.mined_block_number,
    succeeded: row.succeeded,
    gasCost: BigInt(row.gas_cost ?? 0),
  };
}
