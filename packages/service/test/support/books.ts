/** Ledgers to audit: rows written as the service writes them, on a chain whose answers the test sets. */
import { sql } from "kysely";
import { expect, vi } from "vitest";
import { deliveryIdOf } from "../../src/chains/evm/commitment.ts";
import type { BlockRef, FoundDelivery, Lock } from "../../src/chains/port/index.ts";
import { OperatingError } from "../../src/core/errors.ts";
import { NATIVE_TOKEN, toEvmAddress, toHex32 } from "../../src/core/hex.ts";
import { formatStamp } from "../../src/core/stamp.ts";
import type { Db } from "../../src/db/schema.ts";
import { type AuditDeps, auditChain } from "../../src/ledger/index.ts";
import { ROUTE_AUDITS } from "../../src/routes/index.ts";
import {
  type ChainMembers,
  createKeepingLog,
  createStillClock,
  createStrictChain,
  hashOf,
  LANE,
} from "./doubles.ts";
import { createTenant, insertAddress, insertSettlement, USDC } from "./tenants.ts";

export const TOKEN = toEvmAddress(USDC);
export const CHAIN_ID = 2;
/** Destination chain of deliveries. */
export const DEST_CHAIN_ID = 30;
/** The scanned and final height. */
export const TIP = 10_000n;

export const blockAt = (number: bigint): BlockRef => ({
  number,
  hash: toHex32(hashOf(`block ${number}`)),
  parentHash: toHex32(hashOf(`block ${number - 1n}`)),
});

export const idOf = (name: string) => toHex32(hashOf(name));

const TABLES = [
  "ledger_lines",
  "adjusted_balances",
  "deposits",
  "outflows",
  "deliveries",
  "settlements",
  "breaches",
  "audit_rounds",
  "lanes",
  "scanner_blocks",
  "scanner_finality",
  "addresses",
] as const;

/** Removes the rows of a test. The ledger refuses deletes, so this turns its triggers off. */
export async function emptyBooks(db: Db): Promise<void> {
  await db.transaction().execute(async (tx) => {
    await sql`set local session_replication_role = replica`.execute(tx);
    // For few rows, deleting takes a tenth of the time of truncating.
    for (const table of TABLES) await tx.deleteFrom(table).execute();
  });
}

/** Returns how many statements wait for a lock. */
export async function countBlocked(db: Db): Promise<number> {
  const { rows } = await sql`select from pg_stat_activity
    where wait_event_type = 'Lock' and datname = current_database()`.execute(db);
  return rows.length;
}

/** Starts several writers while a table is locked, and releases the lock once each of them waits for it. */
export async function whileBlocked<T>(
  db: Db,
  table: "ledger_lines" | "breaches",
  works: readonly (() => Promise<T>)[],
): Promise<readonly T[]> {
  const begun = await db.transaction().execute(async (tx) => {
    await sql`lock table ${sql.table(table)} in share mode`.execute(tx);
    const running = works.map((work) => work());
    // Queries outside the transaction, inside which the answer would never change.
    await vi.waitFor(async () => expect(await countBlocked(db)).toBe(works.length), 10_000);
    return { running };
  });
  return Promise.all(begun.running);
}

/** Creates a correct chain: scanned and final up to the tip, with one lane that never sent. */
export async function openBooks(db: Db) {
  const tenant = await createTenant(db);
  const { log, lines } = createKeepingLog();
  const clock = createStillClock();
  /** Answers of the chain, which a test changes. */
  const says = {
    finalNumber: TIP,
    /** Whether the node has final state. */
    hasState: true,
    /** Base units of wallets, by token and wallet; zero unless set, and null where they cannot be read. */
    held: new Map<string, bigint | null>(),
    /** The same at certain blocks, by their hash, token and wallet. */
    heldAt: new Map<string, bigint>(),
    /** The newest block whose state the node has dropped. */
    pruned: -1n,
    locks: new Map<string, Lock>(),
    delivered: new Map<string, FoundDelivery>(),
    /** Deliveries that were made and whose transactions no node shows; those that no node answers for. */
    unlocated: new Set<string>(),
    unanswered: new Set<string>(),
    count: 0,
    /** Unix seconds of the final blocks of the chain and of the destination. */
    time: 1_000n,
    destinationTime: 4_000_000_000n,
    block: (number: bigint): BlockRef | null => blockAt(number),
    /** Called while balances are read. */
    meanwhile: async () => {},
    /** Reads of the chain, in order. */
    asked: [] as string[],
  };
  /** Proofs read at a block that they name by its hash: the server of the next read may lag. */
  const expectPinned = (at: unknown) =>
    expect(at).toMatchObject({ number: says.finalNumber, hash: blockAt(says.finalNumber).hash });
  const heldBy = (token: string, wallet: string, hash = "") => {
    const held =
      says.heldAt.get(`${hash}:${token}:${wallet}`) ?? says.held.get(`${token}:${wallet}`);
    return held === undefined ? 0n : held;
  };
  const members = {
    chainId: CHAIN_ID,
    getFinalNumber: async () => says.finalNumber,
    getFinalBlock: async () => blockAt(says.finalNumber),
    getTime: async () => says.time,
    getBlock: async (number) => says.block(number),
    listTokenBalances: async (hash, holdings) => {
      await says.meanwhile();
      says.asked.push(`${holdings.length} balances`);
      const hasState = says.hasState && blockAt(says.pruned).hash !== hash;
      return hasState ? holdings.map(({ token, wallet }) => heldBy(token, wallet, hash)) : null;
    },
    listNativeBalances: async (_block, owners) => {
      says.asked.push(`${owners.length} native balances`);
      return owners.map((owner) => heldBy(NATIVE_TOKEN, owner) ?? 0n);
    },
    deliveryIdOf: (lock) => deliveryIdOf({ srcChain: CHAIN_ID, escrow: LANE, ...lock }),
    getLock: async (lock, at) => {
      expectPinned(at);
      const id = deliveryIdOf({ srcChain: CHAIN_ID, escrow: LANE, ...lock });
      return says.locks.get(id) ?? null;
    },
    getTransactionCount: async (_sender, at) => {
      expect(at).toBe("final");
      return says.count;
    },
  } satisfies ChainMembers;
  const destination = createStrictChain({
    chainId: DEST_CHAIN_ID,
    getFinalBlock: async () => blockAt(says.finalNumber),
    getTime: async () => says.destinationTime,
    isDelivered: async ({ deliveryId }, at) => {
      expectPinned(at);
      return says.delivered.has(deliveryId);
    },
    findDelivery: async ({ deliveryId }, at) => {
      expectPinned(at);
      says.asked.push(`delivery ${deliveryId}`);
      if (says.unanswered.has(deliveryId)) throw new OperatingError("RPC_UNAVAILABLE", "no answer");
      if (says.unlocated.has(deliveryId)) return "unlocated";
      return says.delivered.get(deliveryId) ?? null;
    },
  });
  const chain = createStrictChain(members);
  const deps: AuditDeps = {
    routes: ROUTE_AUDITS,
    db,
    chain,
    chains: new Map([
      [CHAIN_ID, chain],
      [DEST_CHAIN_ID, destination],
    ]),
    tokens: [TOKEN],
    clock,
    log,
  };
  for (const number of [TIP - 1n, TIP]) {
    const { hash, parentHash } = blockAt(number);
    await db
      .insertInto("scanner_blocks")
      .values({ chain_id: CHAIN_ID, number, hash, parent_hash: parentHash })
      .execute();
  }
  /** Sets the height up to which final blocks were read a second time. */
  const lookedAgain = async (through: bigint | null) => {
    // Without a final block of the scanner, nothing is compared with the chain's.
    const row = { number: 0n, looked_again: through };
    await db
      .insertInto("scanner_finality")
      .values({ chain_id: CHAIN_ID, ...row })
      .onConflict((conflict) => conflict.column("chain_id").doUpdateSet(row))
      .execute();
  };
  // Above every block of a test.
  await lookedAgain(TIP * 2n);
  await db
    .insertInto("lanes")
    .values({ chain_id: CHAIN_ID, address: LANE, purpose: "settle", next_nonce: 0 })
    .execute();

  const newAddress = async () => {
    const { id, wallet } = await insertAddress(db, tenant);
    return { id, wallet: toEvmAddress(wallet) };
  };
  type Address = Awaited<ReturnType<typeof newAddress>>;

  let count = 0;
  return {
    deps,
    says,
    lines,
    clock,
    newAddress,
    lookedAgain,

    audit: (scope: "next" | "all", changed: Partial<AuditDeps> = {}) =>
      auditChain({ ...deps, ...changed }, scope),

    /** Records a deposit that the chain shows and the wallet holds. */
    async arrive(address: Address, amount: bigint, { token = TOKEN, block = TIP } = {}) {
      count += 1;
      await db
        .insertInto("deposits")
        .values({
          id: toUuid(count),
          chain_id: CHAIN_ID,
          wallet: address.wallet,
          token,
          tx_hash: hashOf(`deposit ${count}`),
          ordinal: 0,
          log_index: 0,
          sender: LANE,
          amount,
          block_number: block,
          block_hash: blockAt(block).hash,
          address_id: address.id,
          integrator_id: tenant.id,
          queued: true,
        })
        .execute();
      const at = `${token}:${address.wallet}`;
      says.held.set(at, (says.held.get(at) ?? 0n) + amount);
    },

    /** Records a sweep or another outflow as the scanner does. Returns its position. */
    async leave(
      address: Address,
      amount: bigint,
      { block = TIP, kind = "swept", txHash = hashOf("a sweep") as string } = {},
    ) {
      count += 1;
      await db
        .insertInto("outflows")
        .values({
          chain_id: CHAIN_ID,
          block_number: block,
          block_hash: blockAt(block).hash,
          log_index: count,
          wallet: address.wallet,
          token: TOKEN,
          amount,
          kind,
          tx_hash: txHash,
        })
        .execute();
      return { place: `${block}:${count}`, logIndex: count };
    },

    /** Records a settlement that swept `swept`; completed unless `status` is given. */
    async settle(
      address: Address,
      row: {
        readonly status?: "completed" | "dead" | "settling";
        readonly swept?: { readonly amount: bigint; readonly block: bigint; readonly log: number };
        readonly isFinal?: boolean;
        readonly updatedMs?: number;
      } = {},
    ): Promise<string> {
      const { status = "completed", swept, isFinal = true, updatedMs = clock.now() } = row;
      const error = { code: "SIMULATION_REVERTED", retryable: false };
      const id = await insertSettlement(db, tenant, address, {
        status,
        ...(status === "dead" ? { error } : {}),
      });
      // The trigger refuses to change what a terminal one took, and would post it.
      await db.transaction().execute(async (tx) => {
        await sql`set local session_replication_role = replica`.execute(tx);
        await tx
          .updateTable("settlements")
          .set({
            swept_amount: swept?.amount ?? null,
            swept_block: swept?.block ?? null,
            swept_log_index: swept?.log ?? null,
            sweep_final: isFinal,
            updated_at: formatStamp(updatedMs),
          })
          .where("id", "=", id)
          .execute();
      });
      return id;
    },

    /** Records a delivery of a settlement, which the chains show as recorded. */
    async deliver(
      settlementId: string,
      name: string,
      row: {
        readonly state?: string;
        readonly createdMs?: number;
        readonly paid?: bigint;
        readonly minOut?: bigint;
        readonly destChain?: number;
      } = {},
    ): Promise<string> {
      count += 1;
      const { state = "claimed", paid = 90n, minOut = 80n, createdMs = clock.now() } = row;
      const address = await db
        .selectFrom("addresses as a")
        .innerJoin("settlements as s", "s.address_id", "a.id")
        .select(["a.id", "a.wallet", "a.commitment", "a.dest_wallet", "a.dest_token"])
        .where("s.id", "=", settlementId)
        .executeTakeFirstOrThrow();
      const facts = { commitment: idOf("commitment"), amount: paid };
      const lock = {
        commitment: toHex32(address.commitment),
        delivery: idOf("delivery"),
        token: TOKEN,
        amount: 100n,
        minOut,
        seq: BigInt(count),
      };
      const id = deliveryIdOf({ srcChain: CHAIN_ID, escrow: LANE, ...lock });
      const to = toEvmAddress(address.dest_wallet);
      if (row.destChain !== undefined) {
        await db
          .updateTable("addresses")
          .set({ dest_chain: row.destChain })
          .where("id", "=", address.id)
          .execute();
      }
      await db
        .insertInto("deliveries")
        .values({
          id,
          settlement_id: settlementId,
          state,
          src_chain: CHAIN_ID,
          escrow: LANE,
          wallet: address.wallet,
          token: TOKEN,
          seq: BigInt(count),
          locked_amount: 100n,
          min_out: minOut,
          locked_at: 1n,
          delivery: lock.delivery,
          dest_chain: row.destChain ?? DEST_CHAIN_ID,
          dest_token: address.dest_token,
          dest_wallet: address.dest_wallet,
          pay_amount: paid,
          delivered_amount: paid,
          created_at: formatStamp(createdMs),
        })
        .execute();
      says.delivered.set(id, {
        ...facts,
        deliveryId: id,
        to,
        token: toEvmAddress(address.dest_token),
        txHash: hashOf(`delivery ${name}`),
        blockNumber: 1n,
      });
      says.locks.set(id, { ...lock, lockedAt: 1n, state: "locked" });
      return id;
    },

    /** Posts a movement between two ledger accounts that no row explains. */
    async post(line: {
      readonly from: readonly [account: string, owner: string];
      readonly to: readonly [account: string, owner: string];
      readonly amount: bigint;
    }) {
      const { from, to, amount } = line;
      await sql`select post_move('adjustment', 'test', ${CHAIN_ID}::integer, ${TOKEN}, ${TIP}::bigint,
        ${from[0]}, ${from[1]}, ${to[0]}, ${to[1]}, ${amount}::numeric)`.execute(db);
    },
  };
}

const toUuid = (count: number) => `00000000-0000-4000-9000-${count.toString(16).padStart(12, "0")}`;
