/** Expected times of locks, and locks that a reorg moved to another block, computed from the chains alone. */
import type { LockFacts } from "../../src/chains/port/index.ts";
import type { FakeChain } from "../fake-chain/model.ts";
import type { SharedDatabase } from "./database.ts";
import { Broken } from "./broken.ts";

/** Returns the facts of a lock that its id names. */
function owedBy(lock: LockFacts): string {
  const { delivery, commitment, token, amount, minOut, seq } = lock;
  return [delivery, commitment, token, amount, minOut, seq].join("|");
}

/**
 * Checks that a lock is the same delivery in every block that ever held it, and that its row has the time of the block that
 * holds it in the end. Returns the states that the run reached.
 */
export async function judgeLocks(
  database: SharedDatabase,
  chains: ReadonlyMap<number, FakeChain>,
): Promise<readonly string[]> {
  let isMoved = false;
  const rows = await database.query<{ id: string; locked_at: bigint }>(
    `select id, locked_at from deliveries`,
  );
  const recorded = new Map(rows.map(({ id, locked_at }) => [id, BigInt(locked_at)]));
  for (const [chainId, chain] of chains) {
    for (const [id, { lockedAt }] of chain.head.state.locks) {
      const time = recorded.get(id);
      if (time !== undefined && time !== lockedAt)
        throw new Broken(`T240: the row of ${id} has the time ${time}, its lock ${lockedAt}`);
    }
    const known = new Map<string, { readonly id: string; readonly times: Set<bigint> }>();
    for (const [txHash, { logs }] of chain.listEverMined()) {
      for (const log of logs) {
        if (log.kind !== "effect" || log.effect.kind !== "locked") continue;
        const { deliveryId: id, lockedAt } = log.effect;
        const lock = `${chainId}|${txHash}|${owedBy(log.effect)}`;
        const before = known.get(lock) ?? { id, times: new Set() };
        if (before.id !== id) throw new Broken(`T240: one lock has the ids ${before.id} and ${id}`);
        known.set(lock, { id, times: before.times.add(lockedAt) });
      }
    }
    isMoved ||= [...known.values()].some(({ times }) => times.size > 1);
  }
  return isMoved ? ["a lock came back at another time"] : [];
}
