/**
 * The real database under the scheduler: one connection that the processes take in turns, so that a transaction runs as
 * one step and everything between transactions can interleave. Faults are those that a driver sees of a failing server.
 * Answers that cannot have changed are not requested again (`memo.ts`), and a transaction without other queries is not
 * sent to the database.
 */
import { setImmediate as nextTurn } from "node:timers/promises";
import {
  type CompiledQuery,
  type DatabaseConnection,
  type Driver,
  Kysely,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
  type QueryResult,
} from "kysely";
import { scheduleGathered } from "../../src/db/gather.ts";
import type { Database, Db } from "../../src/db/schema.ts";
import type { Kernel, Life } from "./kernel.ts";
import { type Answer, Memo } from "./memo.ts";
import type { SimulationDatabase } from "./server.ts";

/** A fault of a query or a commit. */
export type DatabaseFault =
  /** It fails without an effect. */
  | "lost"
  /** The commit succeeds, and its answer is lost. */
  | "answer_lost"
  /** The process ends before the effect. */
  | "kill"
  /** The process ends after the effect. */
  | "kill_after";

export interface SharedDatabase {
  /** The database as one process sees it. */
  dbFor(life: Life): Db;
  /** Queries for the simulation itself; only between steps. */
  query<Row extends object>(text: string, values?: readonly unknown[]): Promise<Row[]>;
  /** Throws when a transaction is open between two steps, which means that it waits for something outside the database. */
  assertAtRest(): void;
}

export function shareDatabase(
  { client, names, schema }: SimulationDatabase,
  kernel: Kernel,
  chooseFault: (life: Life, what: "query" | "write" | "commit") => DatabaseFault | null,
  /** Whether every query is sent to the database, also a remembered one. */
  asksAll: boolean,
): SharedDatabase {
  let holder: Life | null = null;
  const memo = new Memo(schema);
  /** The transaction of the holder; `wanted` is not yet begun in the database. */
  let transaction: "none" | "wanted" | "open" | "failed" = "none";

  /** Statements are parsed and planned once, since that takes most of the time of small queries. */
  async function ask(text: string, values: readonly unknown[] = []): Promise<Answer> {
    const name = names.get(text) ?? `q${names.size}`;
    names.set(text, name);
    return kernel.during(client.query({ name, text, values: [...values] }));
  }

  async function execute(text: string, values: readonly unknown[] = []): Promise<Answer> {
    // A failed transaction answers no further query, and the service must see that.
    const known = asksAll || transaction === "failed" ? null : memo.recall(text, values);
    if (known) {
      await kernel.during(nextTurn());
      return known;
    }
    if (transaction === "wanted") await begin();
    try {
      const answer = await ask(text, values);
      memo.note(text, values, answer);
      return answer;
    } catch (error) {
      if (transaction === "open") transaction = "failed";
      throw error;
    }
  }

  async function begin(): Promise<void> {
    await ask("begin");
    transaction = "open";
  }

  async function end(how: "commit" | "rollback"): Promise<void> {
    const was = transaction;
    transaction = "none";
    if (was === "none" || was === "wanted") return kernel.during(nextTurn());
    try {
      await ask(how);
      if (how === "rollback" || was === "failed") memo.forget();
    } catch (error) {
      memo.forget();
      throw error;
    }
  }

  /** Ends the process; the server rolls back its open transaction. */
  async function die<T>(life: Life): Promise<T> {
    kernel.kill(life);
    await end("rollback");
    holder = null;
    return new Promise<T>(() => undefined);
  }

  /** Performs a durable effect, or its fault. */
  async function carryOut<T>(
    life: Life,
    fault: DatabaseFault | null,
    work: () => Promise<T>,
  ): Promise<T> {
    if (fault === "kill") return die(life);
    if (fault === "lost") {
      await end("rollback");
      throw connectionLost();
    }
    const result = await work();
    if (fault === "kill_after") return die(life);
    if (fault === "answer_lost") throw connectionLost();
    return result;
  }

  function createDriver(life: Life): Driver {
    let isOpen = false;
    let hasWritten = false;
    const connection: DatabaseConnection = {
      async executeQuery<R>({ sql, parameters }: CompiledQuery): Promise<QueryResult<R>> {
        const writes = /^\s*(insert|update|delete|merge|with)/i.test(sql);
        hasWritten ||= writes;
        const fault = chooseFault(life, writes && !isOpen ? "write" : "query");
        const result = await carryOut(life, fault, () => execute(sql, parameters));
        return {
          // CAST: the service knows the rows of its query.
          rows: result.rows as R[],
          ...(result.command === "SELECT" ? {} : { numAffectedRows: BigInt(result.rowCount ?? 0) }),
        };
      },
      // oxlint-disable-next-line require-yield
      async *streamQuery() {
        throw new Error("nothing streams its rows");
      },
    };
    return {
      init: async () => undefined,
      destroy: async () => undefined,
      async acquireConnection() {
        await kernel.gate(life, "db", { isFree: () => holder === null });
        holder = life;
        return connection;
      },
      async beginTransaction() {
        isOpen = true;
        hasWritten = false;
        transaction = "wanted";
        if (asksAll) await begin();
        else await kernel.during(nextTurn());
      },
      async commitTransaction() {
        const fault = chooseFault(life, hasWritten ? "commit" : "query");
        isOpen = false;
        await carryOut(life, fault, () => end("commit"));
      },
      async rollbackTransaction() {
        if (!isOpen) return;
        isOpen = false;
        await end("rollback");
      },
      async releaseConnection() {
        if (holder === life) holder = null;
      },
    };
  }

  return {
    dbFor(life) {
      const db = new Kysely<Database>({
        dialect: {
          createAdapter: () => new PostgresAdapter(),
          createDriver: () => createDriver(life),
          createIntrospector: (of) => new PostgresIntrospector(of),
          createQueryCompiler: () => new PostgresQueryCompiler(),
        },
      });
      scheduleGathered(db, (send) => void kernel.gate(life, "gathered").then(send));
      return db;
    },
    async query<Row extends object>(text: string, values: readonly unknown[] = []) {
      // CAST: the caller knows the rows of its query.
      return (await execute(text, values)).rows as Row[];
    },
    assertAtRest() {
      if (holder) throw new Error(`${holder.name} waits for something inside a transaction`);
    },
  };
}

/** The driver's error when the server ends the connection. */
function connectionLost(): Error {
  return Object.assign(new Error("Connection terminated unexpectedly"), { code: "57P01" });
}
