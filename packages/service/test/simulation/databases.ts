/** Simulations inside a test file: one server, and a few databases that share a list of runs. */
import { afterAll, beforeAll } from "vitest";
import { type SimulationDatabase, type SimulationServer, startServer } from "./server.ts";

const AT_ONCE = 2;

/** Creates the databases before the tests of a file, and closes them after it. */
export function useSimulations() {
  let server: SimulationServer;
  const databases: SimulationDatabase[] = [];

  beforeAll(async () => {
    server = await startServer();
    for (let i = 0; i < AT_ONCE; i++) databases.push(await server.open());
  });
  afterAll(async () => {
    for (const database of databases) await database.close();
    await server.stop();
  });

  return {
    databases,

    /** Runs a list on all databases, and returns the problems. */
    async collect<T>(
      items: Iterable<T>,
      work: (database: SimulationDatabase, item: T) => Promise<string | null>,
    ): Promise<string[]> {
      const iterator = items[Symbol.iterator]();
      const problems: string[] = [];
      const worker = async (database: SimulationDatabase) => {
        for (let next = iterator.next(); !next.done; next = iterator.next()) {
          const problem = await work(database, next.value);
          if (problem !== null) problems.push(problem);
        }
      };
      await Promise.all(databases.map(worker));
      return problems;
    },
  };
}
