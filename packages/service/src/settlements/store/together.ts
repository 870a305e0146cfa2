/**
 * Changes of settlements that share a transaction: those of one integrator in one turn of the event loop. Transactions of an
 * integrator wait for each other until they are on disk, because its events are in the order of their commits.
 *
 * Lock order, as everywhere: holdings, inventories, rows of settlements by id, then the stamps of the integrator. A transaction
 * has the stamps of one integrator only, so that no two wait for each other's.
 */
import { gatherCalls, shareStatements } from "../../db/gather.ts";
import { isTransientDatabaseError } from "../../db/transient-errors.ts";
import type { Db, Tx } from "../../db/schema.ts";
import { lockReservations, type ReservedInventory } from "../../routes/index.ts";
import type { Settlement } from "../types.ts";
import { lockHoldings } from "./read.ts";

/** A change of one settlement. */
interface Work {
  readonly settlement: Settlement;
  /** The inventory from which it reserves. */
  readonly inventory: ReservedInventory | null;
  readonly run: (tx: Tx) => Promise<void>;
}

interface Outcome {
  readonly error: unknown;
}

/**
 * Runs a change under the lock of its holding, in a transaction with others of the same turn. Those run at the same time, and
 * what they write in one turn shares statements. If one of them throws, nothing of any is written, and each is run again alone:
 * a change has no effects outside its transaction but counts of metrics.
 */
export async function changeTogether(
  db: Db,
  settlement: Settlement,
  run: (tx: Tx) => Promise<void>,
  inventory: ReservedInventory | null = null,
): Promise<void> {
  const { error } = await runTogether(db, { settlement, inventory, run });
  if (error !== null) throw error;
}

const runTogether = gatherCalls(async (db, works: readonly Work[]) => {
  const byIntegrator = Map.groupBy(works, ({ settlement }) => settlement.integratorId);
  const outcomes = new Map<Work, Outcome>();
  await Promise.all(
    [...byIntegrator.values()].map(async (own) => {
      for (const [work, outcome] of await runAll(db, own)) outcomes.set(work, outcome);
    }),
  );
  return works.map((work) => outcomes.get(work) ?? { error: null });
});

/** Runs the changes of one integrator together, or where that fails for a reason that may be about one of them, each alone. */
async function runAll(db: Db | Tx, works: readonly Work[]): Promise<Map<Work, Outcome>> {
  try {
    await runIn(db, works);
    return new Map(works.map((work) => [work, { error: null }]));
  } catch (error) {
    if (works.length === 1 || isTransientDatabaseError(error)) {
      return new Map(works.map((work) => [work, { error }]));
    }
  }
  const outcomes = new Map<Work, Outcome>();
  for (const work of works) {
    for (const [one, outcome] of await runAll(db, [work])) outcomes.set(one, outcome);
  }
  return outcomes;
}

async function runIn(db: Db | Tx, works: readonly Work[]): Promise<void> {
  const settlements = works.map(({ settlement }) => settlement);
  await db.transaction().execute(async (tx) => {
    await lockHoldings(tx, settlements);
    await lockReservations(
      tx,
      works.flatMap(({ inventory }) => inventory ?? []),
    );
    await tx
      .selectFrom("settlements")
      .select("id")
      .where(
        "id",
        "in",
        settlements.map(({ id }) => id),
      )
      .orderBy("id")
      .forUpdate()
      .execute();
    if (works.length > 1) shareStatements(tx);
    // All have ended before the transaction does: a statement of one after that would be outside of it.
    const runs = await Promise.allSettled(works.map(({ run }) => run(tx)));
    for (const run of runs) if (run.status === "rejected") throw run.reason;
  });
}
