/**
 * The PostgreSQL of a simulation: the real server without fsync, and one database that is emptied before each seed. Its
 * clock is a counter, so that the database's own timestamps are the same in every run of a seed.
 */
import type pg from "pg";
import { migrateToLatest } from "../../src/db/migrate.ts";
import { type DatabaseAddress, openDatabase } from "../../src/db/pool.ts";
import { maintainEvents } from "../../src/events/index.ts";
import { startThrowawayServer } from "../support/throwaway-server.ts";
import type { Schema } from "./memo.ts";
import { START_MS } from "./stage.ts";

export interface SimulationServer {
  /** Creates another database with its one connection. */
  open(): Promise<SimulationDatabase>;
  stop(): Promise<void>;
}

export interface SimulationDatabase {
  readonly client: pg.PoolClient;
  /** Names of the prepared statements of the connection. */
  readonly names: Map<string, string>;
  readonly schema: Schema;
  /** Removes every row. */
  empty(): Promise<void>;
  /** Lets the database choose its plans, or other ones, which return rows without an order in another order. */
  plan(plans: "usual" | "other"): Promise<void>;
  close(): Promise<void>;
}

/** Without them the database reads tables by their indexes, and joins and groups by sorted rows or one by one. */
const PLAN_SETTINGS = ["enable_seqscan", "enable_hashjoin", "enable_mergejoin", "enable_hashagg"];

export async function startServer(): Promise<SimulationServer> {
  const { address, stop } = await startThrowawayServer("sluice-simulation");
  const admin = await openDatabase(address, { max: 1 });
  // Automatic statistics would change plans, and with them the order of rows without ORDER BY.
  await admin.pool.query("alter system set autovacuum = off");
  await admin.pool.query("select pg_reload_conf()");
  let count = 0;
  return {
    async open() {
      count += 1;
      const name = `simulation_${count}`;
      await admin.pool.query(`create database ${name}`);
      return prepareDatabase({ ...address, database: name });
    },
    async stop() {
      await admin.close();
      await stop();
    },
  };
}

/** Prepares an empty, unused database for simulations. */
export async function prepareDatabase(address: DatabaseAddress): Promise<SimulationDatabase> {
  const first = await openDatabase(address, { max: 1 });
  // Migrations, defaults and functions use the clock that is first in the search path.
  await first.pool.query(
    `do $$ begin
       execute format('alter database %I set search_path = public, simulation, pg_catalog', current_database());
     end $$`,
  );
  await first.close();
  const open = await openDatabase(address, { max: 1 });
  await open.pool.query(`create schema simulation`);
  await open.pool.query(`create sequence simulation.ticks`);
  for (const time of ["clock_timestamp", "now"]) {
    await open.pool.query(
      `create function simulation.${time}() returns timestamptz language sql as
        $$ select timestamptz '${new Date(START_MS).toISOString()}' + nextval('simulation.ticks') * interval '1 ms' $$`,
    );
  }
  await migrateToLatest(open.db);
  await maintainEvents(open.db, START_MS);
  const { rows } = await open.pool.query<{ name: string }>(
    `select format('%I', tablename) as name from pg_tables
      where schemaname = 'public' and tablename not like '%migration%' and tablename not like 'events\\_%'`,
  );
  const tables = rows.map((row) => row.name).join(", ");
  const client = await open.pool.connect();
  // Plans must not depend on earlier queries.
  await client.query("set plan_cache_mode = force_generic_plan; set jit = off");
  return {
    client,
    names: new Map(),
    schema: await readSchema(client),
    async empty() {
      await client.query("rollback");
      // The table of operators' actions refuses deletes; only the simulation bypasses that.
      await client.query("set session_replication_role = replica");
      await client.query(`truncate ${tables} cascade`);
      await client.query("reset session_replication_role");
      await client.query("alter sequence simulation.ticks restart");
    },
    async plan(plans) {
      for (const setting of PLAN_SETTINGS) {
        await client.query(`set ${setting} = ${plans === "usual" ? "on" : "off"}`);
      }
      await client.query("discard plans");
    },
    async close() {
      client.release();
      await open.close();
    },
  };
}

async function readSchema(client: pg.PoolClient): Promise<Schema> {
  const list = async (text: string) =>
    (await client.query<{ name: string }>(text)).rows.map(({ name }) => name);
  return {
    tables: await list(`select tablename as name from pg_tables where schemaname = 'public'`),
    followed: new Set(
      await list(
        `select tgrelid::regclass::text as name from pg_trigger where not tgisinternal
          union select confrelid::regclass::text from pg_constraint
            where contype = 'f' and (confdeltype not in ('a', 'r') or confupdtype not in ('a', 'r'))`,
      ),
    ),
    volatile: new Set(await list(`select proname as name from pg_proc where provolatile = 'v'`)),
  };
}
