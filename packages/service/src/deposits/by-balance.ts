/**
 * Value that only the balance shows: native coin that a contract paid, that a destroyed contract left, that a block
 * credited. It makes no log and is in no transaction's own value.
 *
 * Invariant: at a block up to which everything is recorded, the native balance of a wallet is the sum of its deposits up
 * to that block minus its outflows up to that block. What is missing from that sum is recorded as a deposit, so it is
 * never missing again: the same coin is counted once, however often and by whomever it is looked at.
 */
import { sql } from "kysely";
import type { BlockRef, Outflow } from "../chains/port/index.ts";
import { type Address, type Hex32, toAddress, toHex32 } from "../core/hex.ts";
import type { Db, Tx } from "../db/schema.ts";
import type { ArrivedValue } from "./types.ts";

/** What a wallet held at a block. */
export interface HeldAt {
  readonly chainId: number;
  readonly wallet: Address;
  readonly token: Address;
  readonly block: Pick<BlockRef, "number" | "hash">;
  readonly balance: bigint;
}

/** After everything else in its block. */
const LOG_INDEX_LAST = 2 ** 31 - 1;

/** Deposits minus outflows of each wallet up to a block; zero for wallets that are not in the answer. */
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
 * What nothing else explains of a holding, as arrivals in chain order; none when all is explained. Assumes the lock of
 * the holding. What the last outflow took came before it; the rest is somewhere up to the block, and counts as its last.
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
 * What was found by balance at later blocks: it may have come before this one. If it did not, what is missing here is
 * found by the next look at a later block.
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

/** Deposits, and what the escrow gave back, after a place. */
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

/** Records what left wallets of ours in a block. Recording it again changes nothing. */
export async function insertOutflows(
  tx: Tx,
  chainId: number,
  block: BlockRef,
  outflows: readonly Outflow[],
): Promise<void> {
  if (outflows.length === 0) return;
  await tx
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
    .execute();
}

/** Forgets the outflows of blocks above a height: those blocks are no longer on the chain. */
export async function removeOutflowsAbove(tx: Tx, chainId: number, height: bigint): Promise<void> {
  await tx
    .deleteFrom("outflows")
    .where("chain_id", "=", chainId)
    .where("block_number", ">", height)
    .execute();
}

/** Wallets with deposits in the newest blocks, the newest first. */
export async function listRecentWallets(
  db: Db,
  args: { readonly chainId: number; readonly fromBlock: bigint; readonly limit: number },
): Promise<Address[]> {
  const rows = await db
    .selectFrom("deposits")
    .select("wallet")
    .where("chain_id", "=", args.chainId)
    .where("block_number", ">=", args.fromBlock)
    .groupBy("wallet")
    .orderBy((eb) => eb.fn.max("block_number"), "desc")
    .limit(args.limit)
    .execute();
  return rows.map((row) => toAddress(row.wallet));
}
