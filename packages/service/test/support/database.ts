/** Databases for tests: one embedded server per run, one template with the schema, a copy of it per test file. */
import { inject } from "vitest";
import { Secret } from "../../src/core/secret.ts";
import { type DatabaseAddress, openDatabase } from "../../src/db/pool.ts";
import type { OpenDatabase } from "../../src/db/pool.ts";

declare module "vitest" {
  interface ProvidedContext {
    /** Socket folder of the run's server. */
    readonly testSocketDir: string;
  }
}

export const TEMPLATE = "sluice_template";
const USER = "sluice";

export interface TestDatabase extends OpenDatabase {
  readonly address: DatabaseAddress;
  /** The database as a DATABASE_URL, for a separate service process. */
  readonly url: string;
  /** Closes the pool and deletes the database. */
  drop(): Promise<void>;
}

let count = 0;

/** Creates an empty database with the current schema. */
export async function createTestDatabase(): Promise<TestDatabase> {
  return copyDatabase(TEMPLATE);
}

/** Creates a database without the schema. */
export async function createEmptyDatabase(): Promise<TestDatabase> {
  return copyDatabase("template0");
}

async function copyDatabase(template: string): Promise<TestDatabase> {
  const socketDir = inject("testSocketDir");
  count += 1;
  const name = `test_${process.pid}_${process.hrtime.bigint()}_${count}`;
  // Copies files instead of logging each page: a third of the CPU.
  await asAdmin(`create database ${name} template ${template} strategy file_copy`);
  const address = { socketDir, user: USER, database: name };
  const open = await openDatabase(address, { max: 16 });
  return {
    ...open,
    address,
    url: `postgres://${USER}@${encodeURIComponent(socketDir)}/${name}`,
    async drop() {
      await open.close();
      await asAdmin(`drop database ${name} with (force)`);
    },
  };
}

/** Returns a database's address from its URL, as the configuration parses it. */
export function addressOf(url: string): DatabaseAddress {
  return { url: new Secret(url) };
}

async function asAdmin(statement: string): Promise<void> {
  const socketDir = inject("testSocketDir");
  const admin = await openDatabase({ socketDir, user: USER, database: "postgres" }, { max: 1 });
  try {
    await admin.pool.query(statement);
  } finally {
    await admin.close();
  }
}
