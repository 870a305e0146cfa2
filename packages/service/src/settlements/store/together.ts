/**
 * Changes of settlements that share a transaction: those of one turn of the event loop. Transactions of one integrator wait for
 * each other until they are on disk, because its events are in the order of their commits.
 *
 * Lock order, as everywhere: holdings, then rows of settlements by id, then stamps by integrator.
 */
import { gatherCalls } from "../../db/gather.ts";
import type { Db, Tx } from "../../db/schema.ts";
import type { Settlement } from "../types.ts";
import { lockHoldings } from "./read.ts";

/** A change of one settlement. */
interface Work {
  readonly settlement: Settlement;
  readonly run: (tx: Tx) => Promise<void>;
}

/**
 * Runs a change under the lock of its holding, in a transaction with others of the same turn. If one of them throws, nothing of
 * any is written, and each is run again alone: a change has no effects outside its transaction but counts of metrics.
 */
export async function changeTogether(
  db: Db,
  settlement: Settlement,
  run: (tx: Tx) => Promise<void>,
): Promise<void> {
  await runTogether(db, { settlement, run });
}

const runTogether = gatherCalls(async (db, works: readonly Work[]) => {
  const settlements = works.map(({ settlement }) => settlement);
  await db.transaction().execute(async (tx) => {
    await lockHoldings(tx, settlements);
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
    const byIntegrator = Map.groupBy(works, ({ settlement }) => settlement.integratorId);
    for (const integratorId of [...byIntegrator.keys()].toSorted()) {
      for (const { run } of byIntegrator.get(integratorId) ?? []) await run(tx);
    }
  });
  return works.map(() => undefined);
});
