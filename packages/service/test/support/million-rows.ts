/** A million settlements, deposits and events, inserted within a minute or two, past the service. */
import { createHash } from "node:crypto";
import { sql } from "kysely";
import type { Db } from "../../src/db/schema.ts";

/** Settlements, and as many deposits and events. */
export const ROWS = 1_000_000;
/** Wallets that share the rows. */
export const WALLETS = 100_000;

/** Tables with as many rows. */
const LOADED = ["settlements", "deposits", "events"];

/** Returns the address of the wallet of a row. */
export const walletOf = (row: number): string =>
  `0x${createHash("sha256").update(`w${row}`).digest("hex").slice(0, 40)}`;

const STAMP_OF = sql.raw(
  `date_trunc('milliseconds', now()) - interval '20 days' + i * interval '1 s'`,
);
const idOf = (prefix: string) =>
  sql.raw(`encode(substr(sha256(('${prefix}' || i)::bytea), 1, 16), 'hex')::uuid`);

/**
 * Inserts the rows over one connection of a superuser. The first integrator has half of them, the others share the rest.
 * Payloads of events are copies of those that the database has, one of each type.
 */
export async function insertHistory(
  db: Db,
  options: {
    /** Ids of at least two integrators. */
    readonly tenants: readonly string[];
    /** One row of fifty is of the rare chain. */
    readonly chains: { readonly usual: number; readonly rare: number };
    /** `ROWS` unless given. */
    readonly count?: number;
    /** Addresses that share the rows; `WALLETS` unless given. */
    readonly wallets?: number;
    readonly also?: (session: Db) => Promise<void>;
  },
): Promise<void> {
  const { tenants, count = ROWS, wallets = WALLETS, also } = options;
  const walletOfRow = sql.raw(
    `'0x' || substr(encode(sha256(('w' || (i % ${wallets}))::bytea), 'hex'), 1, 40)`,
  );
  const addressOfRow = sql.raw(
    `encode(substr(sha256(('a' || (i % ${wallets}))::bytea), 1, 16), 'hex')::uuid`,
  );
  const others = sql.lit(tenants.length - 1);
  const tenantOf = sql`(case when i % 2 = 0 then (select id from tenants where n = 0)
    else (select id from tenants where n = 1 + (i / 2) % ${others}) end)`;
  const { usual, rare } = options.chains;
  const chainOf = sql`case when i % 50 = 0 then ${sql.lit(rare)} else ${sql.lit(usual)} end`;
  const rows = sql`generate_series(0, ${sql.lit(count - 1)}) as i`;

  async function insertRows(session: Db): Promise<void> {
    await sql`insert into addresses (id, integrator_id, chain_family, user_id, dest_chain, dest_wallet, dest_token,
        refund_authority, max_fee_bps, max_slippage_bps, routes, version, wallet_kind, factory, commitment, wallet, created_at)
      select ${idOf("a")}, ${tenantOf}, 'evm', '0x' || lpad(to_hex(i % 1000), 40, '0'), 30, '0x' || lpad(to_hex(i), 40, '0'),
        '0x' || repeat('2', 40), '0x' || repeat('2', 40), 50, 100, '0x' || repeat('0', 64), 1, 1, '0x' || repeat('3', 40),
        '0x' || encode(sha256(('c' || i)::bytea), 'hex'), ${walletOfRow}, ${STAMP_OF}
      from generate_series(0, ${sql.lit(wallets - 1)}) as i`.execute(session);
    await sql`insert into settlements (id, integrator_id, address_id, user_id, chain_id, wallet, token, status, step, swept_block,
        swept_log_index, sweep_final, created_at, updated_at)
      select ${idOf("s")}, ${tenantOf}, ${addressOfRow}, '0x' || lpad(to_hex(i % ${sql.lit(wallets)} % 1000), 40, '0'), ${chainOf},
        ${walletOfRow}, '0x' || repeat('5', 40), case when i % 1000 = 0 then 'pending_swap' else 'completed' end, 'done', i, 0, true,
        ${STAMP_OF}, ${STAMP_OF}
      from ${rows} on conflict do nothing`.execute(session);
    await sql`insert into deposits (id, chain_id, wallet, token, tx_hash, ordinal, log_index, sender, amount, block_number, block_hash,
        address_id, integrator_id, user_id, settlement_id, queued, ignored_reason, detected_at)
      select ${idOf("d")}, ${chainOf}, ${walletOfRow}, '0x' || repeat('5', 40), '0x' || encode(sha256(('t' || i)::bytea), 'hex'), 0, 0,
        '0x' || repeat('1', 40), 1000000, i, '0x' || repeat('b', 64), ${addressOfRow}, ${tenantOf},
        '0x' || lpad(to_hex(i % ${sql.lit(wallets)} % 1000), 40, '0'), ${idOf("s")}, i % 2000 <> 0,
        case when i % 2000 = 0 then 'below_min' end, ${STAMP_OF}
      from ${rows}`.execute(session);
    await sql`insert into events (integrator_id, created_at, id, type, data)
      select ${tenantOf}, ${STAMP_OF}, ${idOf("e")}, case when i % 5000 = 0 then 'deposit_detected' else 'status_changed' end,
        payloads.data || jsonb_build_object('walletAddress', ${walletOfRow})
      from ${rows}
      join payloads on payloads.type = case when i % 5000 = 0 then 'deposit_detected' else 'status_changed' end`.execute(
      session,
    );
  }

  await db.connection().execute(async (session) => {
    // Triggers and foreign keys would take most of the time.
    await sql`set session_replication_role = replica`.execute(session);
    await sql`set statement_timeout = 0`.execute(session);
    await sql`set synchronous_commit = off`.execute(session);
    await sql`create temporary table tenants as
      select id, n - 1 as n from unnest(${tenants}::uuid[]) with ordinality as t (id, n)`.execute(
      session,
    );
    await sql`create temporary table payloads as
      select distinct on (type) type, data from events`.execute(session);
    // Hashes and ids are in no order, so an index is built faster when its rows are there.
    const { rows: indexes } = await sql<{ name: string; definition: string }>`
      select indexrelid::regclass::text as name, pg_get_indexdef(indexrelid) as definition from pg_index
      where not indisunique and indrelid in (select unnest(${LOADED}::text[])::regclass)`.execute(
      session,
    );
    for (const { name } of indexes) await sql`drop index ${sql.ref(name)}`.execute(session);
    await insertRows(session);
    await also?.(session);
    await sql`set maintenance_work_mem = '256MB'`.execute(session);
    // Of a partitioned table the definition says `ON ONLY`, which leaves its partitions out.
    for (const { definition } of indexes) {
      await sql.raw(definition.replace(" ON ONLY ", " ON ")).execute(session);
    }
    await sql`analyze`.execute(session);
    await sql`set session_replication_role = origin`.execute(session);
  });
}
