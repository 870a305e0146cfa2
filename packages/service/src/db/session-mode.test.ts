/** Poolers in transaction mode, played over real connections. */
import pg from "pg";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createTestDatabase, type TestDatabase } from "../../test/support/database.ts";
import { type Connection, assertSessionMode } from "./session-mode.ts";

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

/** Lends a server process per transaction, as PgBouncer does: the one that was returned last, or first. */
function openTransactionPooler(order: "last" | "first") {
  const servers = [1, 2].map(() => new pg.Client({ connectionString: database.url }));
  const free = [...servers];
  return {
    start: () => Promise.all(servers.map((server) => server.connect())),
    stop: () => Promise.all(servers.map((server) => server.end())),
    async connect(): Promise<Connection> {
      let held: pg.Client | undefined;
      const query = async (text: string) => {
        const server = held ?? (order === "last" ? free.pop() : free.shift());
        if (!server) throw new Error("expected a free server");
        const result = await server.query(text);
        held = text === "begin" ? server : text === "rollback" ? undefined : held;
        if (!held) free.push(server);
        return result;
      };
      // CAST: the check calls only this form of query.
      return { query: query as Connection["query"], release: () => undefined };
    },
  };
}

test("connections that keep their server process are accepted", async () => {
  await expect(assertSessionMode(() => database.pool.connect())).resolves.toBeUndefined();
});

test.each(["last", "first"] as const)(
  "a pooler in transaction mode is refused, whichever process it lends: the one freed %s",
  async (order) => {
    const pooler = openTransactionPooler(order);
    await pooler.start();
    try {
      await expect(assertSessionMode(pooler.connect)).rejects.toMatchObject({
        code: "CONFIG_MISSING",
        message: expect.stringContaining("pool_mode = session"),
      });
    } finally {
      await pooler.stop();
    }
  },
);
