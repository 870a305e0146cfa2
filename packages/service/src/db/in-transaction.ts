import type { Db, Tx } from "./schema.ts";

/** Runs work in the transaction of the caller, or without one in a transaction of its own. */
export async function inTransaction<Result>(
  db: Db | Tx,
  work: (tx: Tx) => Promise<Result>,
): Promise<Result> {
  // CAST: Kysely tells its transactions apart at run time only.
  return db.isTransaction ? work(db as Tx) : db.transaction().execute(work);
}
