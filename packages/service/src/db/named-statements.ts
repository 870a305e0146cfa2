/**
 * Statements by name. PostgreSQL parses a named statement once per connection and, once its plan does not depend on the values,
 * plans it once too. The driver keeps which connection knows which name.
 *
 * Only statements that are repeated get a name, and a limited number of them: each connection keeps what it has parsed, and
 * a statement with a list of values has a text for each length of the list.
 */
import type { PostgresPool, PostgresPoolClient } from "kysely";
import type pg from "pg";

/** Uses after which a statement gets a name. */
const USES_MIN = 20;
/** Names of a pool. */
const NAMES_MAX = 250;
/** Texts whose uses are counted; beyond it, counting starts again. */
const COUNTED_MAX = 2_000;

/** Names of the statements of one pool. */
export interface StatementNames {
  /** Returns the name of a statement, or undefined while it has none. Counts a use. */
  nameOf(text: string): string | undefined;
  /** Gives every statement a new name, so that each connection parses it again. */
  renew(): void;
}

export function createStatementNames(): StatementNames {
  const names = new Map<string, string>();
  const uses = new Map<string, number>();
  let generation = 1;
  let named = 0;
  return {
    nameOf(text) {
      const name = names.get(text);
      if (name !== undefined) return name;
      if (names.size >= NAMES_MAX) return undefined;
      const count = (uses.get(text) ?? 0) + 1;
      if (count < USES_MIN) {
        if (uses.size >= COUNTED_MAX) uses.clear();
        uses.set(text, count);
        return undefined;
      }
      uses.delete(text);
      named += 1;
      const given = `sluice_${generation}_${named}`;
      names.set(text, given);
      return given;
    },
    renew() {
      names.clear();
      uses.clear();
      generation += 1;
    },
  };
}

/**
 * Returns whether a named statement can no longer run as it was parsed: a migration changed its columns, or somebody between the
 * service and the server forgot it. Under a new name it runs.
 * https://www.postgresql.org/docs/current/errcodes-appendix.html
 */
export function isOutdatedStatement(error: unknown): boolean {
  if (!(error instanceof Error) || !("code" in error)) return false;
  if (error.code === "26000") return true;
  return error.code === "0A000" && error.message.startsWith("cached plan must not change");
}

/**
 * Returns a pool for the query builder that names statements with values. An outdated one is repeated under a new name;
 * in a transaction, which the failure ended, the caller repeats the whole transaction.
 */
export function nameStatements(pool: pg.Pool): PostgresPool {
  const names = createStatementNames();
  const clients = new WeakMap<pg.PoolClient, PostgresPoolClient>();

  function wrap(client: pg.PoolClient): PostgresPoolClient {
    async function query(text: string, values: readonly unknown[]) {
      const name = values.length > 0 ? names.nameOf(text) : undefined;
      if (name === undefined) return client.query(text, [...values]);
      try {
        return await client.query({ name, text, values: [...values] });
      } catch (error) {
        if (isOutdatedStatement(error)) names.renew();
        if (!isOutdatedStatement(error) || client.getTransactionStatus() !== "I") throw error;
        return client.query(text, [...values]);
      }
    }
    return {
      // CAST: the query builder passes a text and its values; cursors are not configured.
      query: query as unknown as PostgresPoolClient["query"],
      release: (destroy) => client.release(destroy),
    };
  }

  return {
    options: pool.options,
    end: () => pool.end(),
    async connect() {
      const client = await pool.connect();
      const known = clients.get(client) ?? wrap(client);
      clients.set(client, known);
      return known;
    },
  };
}
