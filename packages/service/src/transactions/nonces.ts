/** Lanes and the assignment of their nonces. */
import { type RawBuilder, sql } from "kysely";
import type { Call } from "../chains/port/index.ts";
import type { Address } from "../core/hex.ts";
import { formatStamp } from "../core/stamp.ts";
import { literal, literals } from "../db/literals.ts";
import type { Db, Tx } from "../db/schema.ts";
import { takeQueued } from "./store.ts";

type Lane = { readonly chainId: number; readonly address: Address };

/**
 * Sorts lanes by their number of unmined transactions, least busy first, so that a lane with a stuck nonce gets no new
 * work while another lane is free.
 */
export async function orderLanes(
  db: Db,
  chainId: number,
  lanes: readonly Address[],
): Promise<readonly Address[]> {
  if (lanes.length < 2) return lanes;
  const rows = await db
    .selectFrom("transactions")
    .select((eb) => ["lane", eb.fn.countAll<bigint>().as("count")])
    .where("chain_id", "=", chainId)
    .where("lane", "in", lanes)
    .where("state", "in", literals(["queued", "carried", "assigned"]))
    .groupBy("lane")
    .execute();
  const busy = new Map(rows.map(({ lane, count }) => [lane, Number(count)]));
  const workOf = (lane: Address) => busy.get(lane) ?? 0;
  return lanes.toSorted((one, other) => workOf(one) - workOf(other));
}

/** Registers a lane with the chain's transaction count as its next nonce. A registered lane keeps its next nonce. */
export async function registerLane(
  db: Db,
  lane: { chainId: number; address: Address; purpose: string; nextNonce: number },
): Promise<void> {
  await db
    .insertInto("lanes")
    .values({
      chain_id: lane.chainId,
      address: lane.address,
      purpose: lane.purpose,
      next_nonce: lane.nextNonce,
    })
    .onConflict((conflict) => conflict.columns(["chain_id", "address"]).doNothing())
    .execute();
}

/** Returns the next nonce of a lane, or null if the lane is not registered. */
export async function getNextNonce(
  db: Db | Tx,
  lane: { chainId: number; address: Address },
): Promise<number | null> {
  const row = await db
    .selectFrom("lanes")
    .select("next_nonce")
    .where("chain_id", "=", lane.chainId)
    .where("address", "=", lane.address)
    .executeTakeFirst();
  return row?.next_nonce ?? null;
}

/** What the database knows of a lane's nonces. */
export interface KnownNonces {
  /** The next one to assign. */
  readonly next: number;
  /** The lowest one with a transaction; null without any. */
  readonly first: number | null;
}

/** Returns what the database knows of a lane's nonces, or null if the lane is not registered. */
export async function getKnownNonces(
  db: Db,
  lane: { readonly chainId: number; readonly address: Address },
): Promise<KnownNonces | null> {
  const next = await getNextNonce(db, lane);
  if (next === null) return null;
  const row = await db
    .selectFrom("transactions")
    .select("nonce")
    .where("chain_id", "=", lane.chainId)
    .where("lane", "=", lane.address)
    .where("nonce", "is not", null)
    .orderBy("nonce")
    .limit(1)
    .executeTakeFirst();
  return { next, first: row?.nonce ?? null };
}

/**
 * Raises the next nonce of a lane to the chain's transaction count, because the lower nonces are already used on the chain.
 * Never lowers it.
 */
export async function adoptNonce(
  tx: Tx,
  lane: { readonly chainId: number; readonly address: Address },
  nonce: number,
): Promise<void> {
  await tx
    .updateTable("lanes")
    .set({ next_nonce: nonce })
    .where("chain_id", "=", lane.chainId)
    .where("address", "=", lane.address)
    .where("next_nonce", "<", nonce)
    .execute();
}

/** Holds for claims, and for batches of them: calls of a batch are of one kind. */
const IS_CLAIM = sql<boolean>`(intent like 'claim:%' or coalesce((
  select member.intent from transactions as member where member.carrier_id = transactions.id limit 1), '') like 'claim:%')`;
const IS_BATCH = sql<boolean>`intent like 'batch:%'`;

/**
 * Assigns nonces to queued intents that are due, in turns and oldest first, within the limits; returns their number. Holds the
 * lock of the lane's row, so that nonces are contiguous and unique with any number of processes.
 */
export async function assignNonces(
  db: Db,
  lane: { chainId: number; address: Address },
  {
    nowMs,
    openMax,
    batchesMax = openMax,
    claimsMore = 0,
    claimsOnly = false,
  }: {
    readonly nowMs: number;
    /** Open nonces up to which any call gets one. */
    readonly openMax: number;
    /** Open nonces up to which batches get one. */
    readonly batchesMax?: number;
    /** Nonces that claims and batches of claims get beyond those of other calls, or beyond `openMax`. */
    readonly claimsMore?: number;
    /** Assigns claims and batches of claims only. */
    readonly claimsOnly?: boolean;
  },
): Promise<number> {
  return db.transaction().execute(async (tx) => {
    const nextNonce = await lockLane(tx, lane);
    const open = await countOpen(tx, lane);
    // Behind batches beyond `openMax` the call whose turn it is gets a nonce too, so that none waits until their queue is empty.
    const anyMax = Math.max(
      openMax,
      open.batches >= openMax && open.singles === 0 ? open.all + 1 : 0,
    );
    const claimsMax = Math.max(openMax, open.all - open.claims) + claimsMore;
    const limits = claimsOnly
      ? [{ max: openMax, which: IS_CLAIM }]
      : [
          { max: anyMax, which: sql<boolean>`true` },
          { max: batchesMax, which: IS_BATCH },
          { max: claimsMax, which: IS_CLAIM },
        ];
    let assigned = 0;
    for (const { max, which } of limits) {
      const room = max - open.all - assigned;
      if (room <= 0) continue;
      const ids = await takeDue(tx, lane, { limit: room, nowMs, which });
      await giveNonces(tx, ids, nextNonce + assigned);
      assigned += ids.length;
    }
    if (assigned > 0) await setNextNonce(tx, lane, nextNonce + assigned);
    return assigned;
  });
}

async function takeDue(
  tx: Tx,
  lane: Lane,
  {
    limit,
    nowMs,
    which,
  }: { readonly limit: number; readonly nowMs: number; readonly which: RawBuilder<boolean> },
): Promise<readonly string[]> {
  const due = sql<boolean>`((retry_at is null or retry_at <= ${formatStamp(nowMs)}) and ${which})`;
  const queued = await tx
    .selectFrom(takeQueued(lane, { limit, due }).as("turns"))
    .select("id")
    .orderBy("place")
    .execute();
  return queued.map(({ id }) => id);
}

/** Assigns nonces in the order of the ids. Contiguous: a gap would block every later nonce of the account. */
async function giveNonces(tx: Tx, ids: readonly string[], first: number): Promise<void> {
  if (ids.length === 0) return;
  await sql`
    update "transactions" set state = 'assigned', nonce = ${first} + given.place - 1
      from unnest(${ids}::uuid[]) with ordinality as given (id, place)
     where transactions.id = given.id`.execute(tx);
}

/** Locks the row of a lane, so that two processes cannot assign or take the same nonce; returns its next nonce. */
export async function lockLane(tx: Tx, lane: Lane): Promise<number> {
  const held = await tx
    .selectFrom("lanes")
    .select("next_nonce")
    .where("chain_id", "=", lane.chainId)
    .where("address", "=", lane.address)
    .forUpdate()
    .executeTakeFirstOrThrow();
  return held.next_nonce;
}

async function setNextNonce(tx: Tx, lane: Lane, nonce: number): Promise<void> {
  await tx
    .updateTable("lanes")
    .set({ next_nonce: nonce })
    .where("chain_id", "=", lane.chainId)
    .where("address", "=", lane.address)
    .execute();
}

/** Returns the call that only uses up a nonce. */
export function fillCall({ address }: Pick<Lane, "address">): Call {
  return { to: address, data: "0x", value: 0n };
}

/** Gas limit of a fill if the chain cannot be asked: above the cost of a transfer on every rollup. */
export const FILL_GAS = 1_000_000n;

/**
 * Queues a transaction again that was never signed. The unsigned transactions behind it are queued too and get their nonces
 * again (`moved`), unless one of them was signed or `mustFill` is set: then the nonce is a `gap`. Changes nothing if the
 * transaction itself was `signed`. The caller holds the lane's row.
 */
export async function vacateNonce(
  tx: Tx,
  lane: Lane,
  {
    id,
    nonce,
    mustFill,
  }: { readonly id: string; readonly nonce: number; readonly mustFill: boolean },
): Promise<"moved" | "gap" | "signed"> {
  const open = await tx
    .selectFrom("transactions")
    .select("id")
    .where("chain_id", "=", lane.chainId)
    .where("lane", "=", lane.address)
    .where("state", "in", literals(["assigned", "mined", "final"]))
    .where("nonce", ">=", nonce)
    .forUpdate()
    .execute();
  const ids = open.map((one) => one.id);
  if (!ids.includes(id)) return "signed";
  // Read after the rows are locked: an attempt that was inserted meanwhile is seen.
  const attempts = await tx
    .selectFrom("attempts")
    .select("transaction_id")
    .where("transaction_id", "in", ids)
    .execute();
  if (attempts.some((attempt) => attempt.transaction_id === id)) return "signed";
  const isGap = mustFill || attempts.length > 0;
  await tx
    .updateTable("transactions")
    .set({ state: "queued", nonce: null })
    .where("id", "in", isGap ? [id] : ids)
    .execute();
  if (!isGap) await setNextNonce(tx, lane, nonce);
  return isGap ? "gap" : "moved";
}

/** How many assigned nonces of a lane are not mined. */
interface OpenNonces {
  readonly all: number;
  /** Of claims and batches of claims. */
  readonly claims: number;
  readonly batches: number;
  /** Of calls that are neither. */
  readonly singles: number;
}

/** Counts the assigned nonces of a lane that are not mined. */
export async function countOpen(
  db: Db | Tx,
  lane: { chainId: number; address: Address },
): Promise<OpenNonces> {
  const open = await db
    .selectFrom("transactions")
    .select((eb) => [
      eb.fn.countAll<bigint>().as("all"),
      eb.fn.countAll<bigint>().filterWhere(IS_CLAIM).as("claims"),
      eb.fn.countAll<bigint>().filterWhere(IS_BATCH).as("batches"),
      eb.fn
        .countAll<bigint>()
        .filterWhere(sql<boolean>`not ${IS_BATCH} and not ${IS_CLAIM}`)
        .as("singles"),
    ])
    .where("chain_id", "=", lane.chainId)
    .where("lane", "=", lane.address)
    .where("state", "=", literal("assigned"))
    .executeTakeFirstOrThrow();
  return {
    all: Number(open.all),
    claims: Number(open.claims),
    batches: Number(open.batches),
    singles: Number(open.singles),
  };
}

/** Reports whether a lane has calls that wait for a nonce, transactions to send, only mined ones to follow until final, or nothing. */
export async function findWork(
  db: Db,
  lane: { chainId: number; address: Address },
): Promise<"assign" | "send" | "follow" | "none"> {
  const states = await db
    .selectFrom("transactions")
    .select("state")
    .distinct()
    .where("chain_id", "=", lane.chainId)
    .where("lane", "=", lane.address)
    .where("state", "in", literals(["queued", "assigned", "mined"]))
    .execute();
  if (states.length === 0) return "none";
  if (states.some(({ state }) => state === "queued")) return "assign";
  return states.every(({ state }) => state === "mined") ? "follow" : "send";
}

/** Reports whether a lane has a claim or return that is not final: work with a deadline. */
export async function hasEnding(
  db: Db,
  lane: { chainId: number; address: Address },
): Promise<boolean> {
  const found = await db
    .selectFrom("transactions")
    .select("id")
    .where("chain_id", "=", lane.chainId)
    .where("lane", "=", lane.address)
    .where("state", "in", literals(["queued", "carried", "assigned", "mined"]))
    .where((eb) => eb.or([eb("intent", "like", "claim:%"), eb("intent", "like", "return:%")]))
    .limit(1)
    .executeTakeFirst();
  return found !== undefined;
}
