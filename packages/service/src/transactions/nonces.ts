/** Lanes and the assignment of their nonces. */
import { assert } from "../core/assert.ts";
import type { Address } from "../core/hex.ts";
import { formatStamp } from "../core/stamp.ts";
import type { Db, Tx } from "../db/schema.ts";

/**
 * Sorts lanes by their number of unmined transactions, least busy first, so that a lane with a stuck nonce gets no new
 * work while another lane is free.
 */
export async function orderLanes(
  db: Db,
  chainId: number,
  lanes: readonly Address[],
): Promise<readonly Address[]> {
  assert(lanes.length > 0, "every purpose has a lane");
  if (lanes.length === 1) return lanes;
  const rows = await db
    .selectFrom("transactions")
    .select((eb) => ["lane", eb.fn.countAll<bigint>().as("count")])
    .where("chain_id", "=", chainId)
    .where("lane", "in", lanes)
    .where("state", "in", ["queued", "carried", "assigned"])
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
  db: Db,
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

/**
 * Assigns nonces to queued intents that are due, oldest first, until `openMax` nonces are open; returns their number. Holds
 * the lock of the lane's row, so that nonces are contiguous and unique with any number of processes.
 */
export async function assignNonces(
  db: Db,
  lane: { chainId: number; address: Address },
  { openMax, nowMs }: { readonly openMax: number; readonly nowMs: number },
): Promise<number> {
  return db.transaction().execute(async (tx) => {
    // The row lock serialises assignments: two processes cannot read the same next nonce.
    const held = await tx
      .selectFrom("lanes")
      .select("next_nonce")
      .where("chain_id", "=", lane.chainId)
      .where("address", "=", lane.address)
      .forUpdate()
      .executeTakeFirstOrThrow();
    const room = openMax - (await countOpen(tx, lane));
    if (room <= 0) return 0;
    const queued = await tx
      .selectFrom("transactions")
      .select("id")
      .where("chain_id", "=", lane.chainId)
      .where("lane", "=", lane.address)
      .where("state", "=", "queued")
      .where((eb) => eb.or([eb("retry_at", "is", null), eb("retry_at", "<=", formatStamp(nowMs))]))
      .orderBy("created_at")
      .orderBy("id")
      .limit(room)
      .execute();
    // Contiguous: a gap would block every later nonce of the account.
    let nonce = held.next_nonce;
    for (const { id } of queued) {
      await tx
        .updateTable("transactions")
        .set({ state: "assigned", nonce })
        .where("id", "=", id)
        .execute();
      nonce += 1;
    }
    if (queued.length > 0) {
      await tx
        .updateTable("lanes")
        .set({ next_nonce: nonce })
        .where("chain_id", "=", lane.chainId)
        .where("address", "=", lane.address)
        .execute();
    }
    return queued.length;
  });
}

/** Counts the assigned nonces of a lane that are not mined. */
export async function countOpen(
  db: Db | Tx,
  lane: { chainId: number; address: Address },
): Promise<number> {
  const { count } = await db
    .selectFrom("transactions")
    .select((eb) => eb.fn.countAll<bigint>().as("count"))
    .where("chain_id", "=", lane.chainId)
    .where("lane", "=", lane.address)
    .where("state", "=", "assigned")
    .executeTakeFirstOrThrow();
  return Number(count);
}

/** Reports whether a lane has transactions to send, or only mined ones to follow until final. */
export async function findWork(
  db: Db,
  lane: { chainId: number; address: Address },
): Promise<"send" | "follow" | "none"> {
  const states = await db
    .selectFrom("transactions")
    .select("state")
    .distinct()
    .where("chain_id", "=", lane.chainId)
    .where("lane", "=", lane.address)
    .where("state", "in", ["queued", "assigned", "mined"])
    .execute();
  if (states.length === 0) return "none";
  return states.every(({ state }) => state === "mined") ? "follow" : "send";
}
