/**
 * Finds deposits by balance: native coin paid by a contract call, by a self-destructed contract or by a block. Such value
 * emits no log and is not the value of a transaction.
 *
 * Invariant: at a fully recorded block, a wallet's native balance is the sum of its deposits minus its outflows up to
 * that block. A difference is recorded as a deposit, which restores the sum, so the same coin is counted once, however
 * often the balance is compared.
 */
import { sql } from "kysely";
import type { BlockRef, Outflow } from "../chains/port/index.ts";
import { type Address, type Hex32, toAddress, toHex32, toTxHash } from "../core/hex.ts";
import { formatStamp } from "../core/stamp.ts";
import type { Db, Tx } from "../db/schema.ts";
import type { ArrivedValue, Holding } from "./types.ts";

/** Balance of a wallet at a block, in base units. */
export interface HeldAt {
  readonly chainId: number;
  readonly wallet: Address;
  readonly token: Address;
  readonly block: Pick<BlockRef, "number" | "hash">;
  readonly balance: bigint;
}

/** Log index after all other logs of a block. */
const LOG_INDEX_LAST = 2 ** 31 - 1;

/** Returns deposits minus outflows of each wallet up to a block, in base units. Wallets without an entry have zero. */
export async function listExplained(
  db: Db,
  at: {
    readonly chainId: number;
    readonly token: Address;
    readonly block: bigint;
    readonly wallets: readonly Address[];
  },
): Promise<ReadonlyMap<Address, bigint>> {
  const { rows } = await sql<{ wallet: string; explained: string }>`
    select wallet, sum(amount) as explained from (
      select wallet, amount from deposits
        where chain_id = ${at.chainId} and token = ${at.token} and wallet = any(${at.wallets})
          and block_number <= ${at.block} and orphaned_at is null
      union all
      select wallet, -amount from outflows
        where chain_id = ${at.chainId} and token = ${at.token} and wallet = any(${at.wallets})
          and block_number <= ${at.block}
    ) as moved group by wallet`.execute(db);
  return new Map(rows.map((row) => [toAddress(row.wallet), BigInt(row.explained)]));
}

/**
 * Returns the unexplained part of a balance as arrivals in chain order; none when deposits and outflows explain it.
 * Assumes the lock of the holding. The part that the last outflow took is placed just before that outflow; the rest at
 * the end of the given block, since its real position is unknown.
 */
export async function findUnexplained(tx: Tx, held: HeldAt): Promise<ArrivedValue[]> {
  const explained = await listExplained(tx, {
    ...held,
    block: held.block.number,
    wallets: [held.wallet],
  });
  const known = (explained.get(held.wallet) ?? 0n) + (await sumFoundAfter(tx, held));
  const missing = held.balance - known;
  if (missing <= 0n) return [];
  const last = await getLastOutflow(tx, held);
  const later = last === null ? missing : held.balance - (await sumArrivedAfter(tx, held, last));
  const after = later < 0n ? 0n : later > missing ? missing : later;
  const found = [
    ...(last === null || after === missing
      ? []
      : [
          {
            block: { number: last.number, hash: last.hash },
            piece: { amount: missing - after, logIndex: last.logIndex - 1, ordinal: 0 },
          },
        ]),
    ...(after === 0n
      ? []
      : [{ block: held.block, piece: { amount: after, logIndex: LOG_INDEX_LAST, ordinal: 1 } }]),
  ];
  return [...Map.groupBy(found, ({ block }) => block.hash).values()].flatMap((group) => {
    const [first] = group;
    if (!first) return [];
    return [
      {
        chainId: held.chainId,
        wallet: held.wallet,
        token: held.token,
        blockNumber: first.block.number,
        blockHash: first.block.hash,
        transfers: group.map(({ piece }) => ({ ...piece, txHash: null, from: null })),
      },
    ];
  });
}

/**
 * Returns the sum of deposits found by balance at later blocks. They may have arrived before this block, so they count
 * as known here; if they did not, the next comparison at a later block finds the difference.
 */
async function sumFoundAfter(tx: Tx, held: HeldAt): Promise<bigint> {
  const { total } = await tx
    .selectFrom("deposits")
    .select((eb) => eb.fn.sum<string | null>("amount").as("total"))
    .where("chain_id", "=", held.chainId)
    .where("wallet", "=", held.wallet)
    .where("token", "=", held.token)
    .where("tx_hash", "is", null)
    .where("block_number", ">", held.block.number)
    .where("orphaned_at", "is", null)
    .executeTakeFirstOrThrow();
  return BigInt(total ?? "0");
}

interface OutflowPlace {
  readonly number: bigint;
  readonly hash: Hex32;
  readonly logIndex: number;
}

async function getLastOutflow(tx: Tx, held: HeldAt): Promise<OutflowPlace | null> {
  const row = await tx
    .selectFrom("outflows")
    .select(["block_number", "block_hash", "log_index"])
    .where("chain_id", "=", held.chainId)
    .where("wallet", "=", held.wallet)
    .where("token", "=", held.token)
    .where("block_number", "<=", held.block.number)
    .where("amount", ">", "0")
    .orderBy("block_number", "desc")
    .orderBy("log_index", "desc")
    .limit(1)
    .executeTakeFirst();
  if (!row) return null;
  return { number: row.block_number, hash: toHex32(row.block_hash), logIndex: row.log_index };
}

/** Returns the sum of deposits and returned locks after a chain position, up to the block. */
async function sumArrivedAfter(tx: Tx, held: HeldAt, place: OutflowPlace): Promise<bigint> {
  const { rows } = await sql<{ total: string }>`
    select coalesce(sum(amount), 0) as total from (
      select amount from deposits
        where chain_id = ${held.chainId} and token = ${held.token} and wallet = ${held.wallet}
          and block_number <= ${held.block.number} and orphaned_at is null
          and (block_number, log_index) >= (${place.number}, ${place.logIndex})
      union all
      select -amount from outflows
        where chain_id = ${held.chainId} and token = ${held.token} and wallet = ${held.wallet}
          and block_number <= ${held.block.number}
          and (block_number, log_index) > (${place.number}, ${place.logIndex})
    ) as arrived`.execute(tx);
  return BigInt(rows[0]?.total ?? "0");
}

/** Records the outflows of our wallets in a block, and returns those that were not recorded yet. Idempotent. */
export async function insertOutflows(
  tx: Tx,
  chainId: number,
  block: BlockRef,
  outflows: readonly Outflow[],
): Promise<readonly Outflow[]> {
  if (outflows.length === 0) return [];
  const rows = await tx
    .insertInto("outflows")
    .values(
      outflows.map(({ kind, wallet, token, amount, txHash, logIndex }) => ({
        chain_id: chainId,
        kind,
        tx_hash: txHash,
        wallet,
        token,
        amount,
        block_number: block.number,
        block_hash: block.hash,
        log_index: logIndex,
      })),
    )
    .onConflict((conflict) => conflict.doNothing())
    .returning("log_index")
    .execute();
  const added = new Set(rows.map(({ log_index }) => log_index));
  return outflows.filter(({ logIndex }) => added.has(logIndex));
}

/** Reports whether a transaction took something of a holding in a scanned block. */
export async function hasOutflow(
  tx: Tx,
  { chainId, wallet, token }: Holding,
  taken: { readonly txHash: string; readonly blockHash: string },
): Promise<boolean> {
  const row = await tx
    .selectFrom("outflows")
    .select("log_index")
    .where("chain_id", "=", chainId)
    .where("wallet", "=", wallet)
    .where("token", "=", token)
    .where("tx_hash", "=", taken.txHash)
    .where("block_hash", "=", taken.blockHash)
    .limit(1)
    .executeTakeFirst();
  return row !== undefined;
}

/** A refund that a block shows. */
export interface RefundInBlock extends Pick<Outflow, "wallet" | "token" | "amount" | "txHash"> {
  readonly blockNumber: bigint;
}

/** Lists the refunds of a chain in the blocks after `after` up to `through`, in the order of the chain. */
export async function listRefundsIn(
  tx: Tx,
  chainId: number,
  { after, through }: { readonly after: bigint; readonly through: bigint },
): Promise<readonly RefundInBlock[]> {
  const rows = await tx
    .selectFrom("outflows")
    .select(["wallet", "token", "amount", "tx_hash", "block_number"])
    .where("chain_id", "=", chainId)
    .where("block_number", ">", after)
    .where("block_number", "<=", through)
    .where("kind", "=", "refunded")
    .orderBy("block_number")
    .orderBy("log_index")
    .execute();
  return rows.map((row) => ({
    wallet: toAddress(row.wallet),
    token: toAddress(row.token),
    amount: BigInt(row.amount),
    txHash: toTxHash(row.tx_hash),
    blockNumber: row.block_number,
  }));
}

/**
 * Takes an amount that arrived at or before a block, and was no deposit, out of the deposits that were found by balance since,
 * the oldest first. Those of which nothing is left are marked as orphaned. Assumes the lock of the holding.
 */
export async function takeFromFound(
  tx: Tx,
  { amount, ...holding }: Holding & { readonly amount: bigint },
  block: bigint,
  nowMs: number,
): Promise<void> {
  const found = await tx
    .selectFrom("deposits")
    .select(["id", "amount"])
    .where("chain_id", "=", holding.chainId)
    .where("wallet", "=", holding.wallet)
    .where("token", "=", holding.token)
    .where("tx_hash", "is", null)
    .where("block_number", ">=", block)
    .where("orphaned_at", "is", null)
    .orderBy("block_number")
    .orderBy("log_index")
    .execute();
  let left = amount;
  for (const { id, amount: recorded } of found) {
    const rest = BigInt(recorded) - left;
    await tx
      .updateTable("deposits")
      .set(rest > 0n ? { amount: rest } : { orphaned_at: formatStamp(nowMs) })
      .where("id", "=", id)
      .execute();
    if (rest >= 0n) return;
    left = -rest;
  }
}

/** Deletes the outflows of orphaned blocks, those above a height. */
export async function removeOutflowsAbove(tx: Tx, chainId: number, height: bigint): Promise<void> {
  await tx
    .deleteFrom("outflows")
    .where("chain_id", "=", chainId)
    .where("block_number", ">", height)
    .execute();
}
