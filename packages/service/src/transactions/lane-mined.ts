/** Records receipts of a lane's transactions, and follows mined transactions until they are final. */
import type { BlockRef, Chain, Receipt } from "../chains/port/index.ts";
import { assert } from "../core/assert.ts";
import { allOrEach, shareStatements } from "../db/gather.ts";
import { finalityDelay } from "../jobs/delays.ts";
import { listAttempts } from "./attempts.ts";
import * as store from "./store.ts";
import {
  type Attempt,
  kindOf,
  type LaneTransaction,
  type MinedFacts,
  type TransactionFacts,
} from "./types.ts";
import {
  type FollowTimes,
  labelsOf,
  type LaneDeps,
  traced,
  USED_NONCE_RETRY_MS,
} from "./lane-deps.ts";

/** A transaction, and the receipt of one of its attempts. */
export interface FoundReceipt {
  readonly transaction: LaneTransaction;
  readonly receipt: Receipt;
  readonly attempt: Pick<Attempt, "cancels">;
}

/**
 * Records the receipts of transactions whose nonces the chain has used. Returns whether an attempt of any of them has one. An
 * error of one does not keep the receipts of others from being recorded; the first one is thrown after them.
 */
export async function recordReceipts(
  deps: LaneDeps,
  transactions: readonly LaneTransaction[],
): Promise<boolean> {
  const reads = await Promise.allSettled(
    transactions.map((transaction) =>
      traced(transaction, async () => {
        const attempts = await listAttempts(deps.db, transaction.id);
        return { transaction, attempts, found: await findReceipt(deps.chain, attempts) };
      }),
    ),
  );
  const answers = reads.flatMap((read) => (read.status === "fulfilled" ? [read.value] : []));
  await recordMined(
    deps,
    answers.flatMap(({ transaction, found }) => (found ? [{ transaction, ...found }] : [])),
  );
  for (const { transaction, attempts, found } of answers) {
    if (!found) await reportUsedNonce(deps, transaction, attempts);
  }
  for (const read of reads) if (read.status === "rejected") throw read.reason;
  return answers.some(({ found }) => found !== null);
}

/**
 * Logs that a nonce was used by none of its attempts, once a final block shows it: until then the nodes may just differ.
 * Another nonce could pay twice, so an operator must investigate.
 */
async function reportUsedNonce(
  { chain, clock, log, signer, waits }: LaneDeps,
  { intent, nonce, lane }: LaneTransaction,
  attempts: readonly Attempt[],
): Promise<void> {
  const { sequencing } = chain;
  assert(nonce !== null && sequencing.kind === "nonce", "only nonces are used up");
  if (clock.now() < waits.usedNonceAfterMs) return;
  waits.usedNonceAfterMs = clock.now() + USED_NONCE_RETRY_MS;
  if ((await sequencing.getTransactionCount(signer.address, "final")) <= nonce) return;
  // Read after the final count: a node that knows that block has the receipt, if there is one.
  if (await findReceipt(chain, attempts)) return;
  log.error({ intent, nonce, lane }, "nonce used on chain, but no attempt has a receipt");
}

/**
 * Records the receipts of transactions and of their members, each with its own outcome, and notifies their owners in the same
 * database transaction. Idempotent: a concurrent poll that recorded one first wins.
 */
export function recordMined(deps: LaneDeps, found: readonly FoundReceipt[]): Promise<void> {
  return allOrEach(found, (some) => recordMinedTogether(deps, some));
}

async function recordMinedTogether(deps: LaneDeps, found: readonly FoundReceipt[]): Promise<void> {
  const { db, chain, log, crashPoint, onChanged } = deps;
  for (const { transaction } of found) crashPoint(`${kindOf(transaction.intent)}.mined`);
  const mined = new Map(found.map((one) => [one.transaction.id, { ...one, facts: factsOf(one) }]));
  const woken = await db.transaction().execute(async (tx) => {
    shareStatements(tx);
    const moved = await store.recordMined(
      tx,
      [...mined].map(([id, { facts }]) => ({ id, mined: facts })),
    );
    const changed = await Promise.all(
      [...mined.values()].map(async ({ transaction, receipt, attempt: { cancels }, facts }) => {
        if (!moved.has(transaction.id)) return [];
        const members = (await store.listMembers(tx, transaction.id)).map((member) => {
          const succeeded = !cancels && chain.tookEffect(receipt, member.call);
          return { ...member, state: "mined", mined: { ...facts, succeeded } } as const;
        });
        return [{ ...transaction, state: "mined", mined: facts } as const, ...members];
      }),
    );
    const members = changed.flatMap(([, ...own]) => own);
    if (members.length > 0) await store.recordMined(tx, members);
    return onChanged(tx, changed.flat());
  });
  for (const { transaction } of found) crashPoint(`${kindOf(transaction.intent)}.recorded`);
  deps.wakeOwners(woken);
  for (const { transaction, receipt, facts } of mined.values()) {
    if (!receipt.succeeded) deps.metrics.laneReverts.inc(labelsOf(deps.signer));
    log.info(
      { intent: transaction.intent, txHash: facts.txHash, succeeded: facts.succeeded },
      "mined",
    );
  }
}

function factsOf({ receipt, attempt: { cancels } }: FoundReceipt): MinedFacts {
  return {
    txHash: receipt.txHash,
    blockHash: receipt.blockHash,
    blockNumber: receipt.blockNumber,
    // A cancellation carries out nothing of the call whose nonce it took.
    succeeded: receipt.succeeded && !cancels,
    gasCost: receipt.gasCost,
  };
}

/** Returns the receipt of any attempt and the attempt, newest first, or null: a replaced attempt may be the one that is mined. */
export async function findReceipt(
  chain: Chain,
  attempts: readonly Attempt[],
): Promise<{ readonly receipt: Receipt; readonly attempt: Attempt } | null> {
  for (const attempt of attempts) {
    const receipt = await chain.getReceipt(attempt.hash);
    if (receipt) return { receipt, attempt };
  }
  return null;
}

/** Waits for finality that a lane remembers: the shortest of them is a time before which the next is hardly over. */
const WAITS_REMEMBERED = 8;

/**
 * Follows mined transactions until final, the longer they wait the less often, and less often still before the time that
 * finality takes. Where one is due, those that have half of their delay behind them are polled with it. A transaction in an
 * orphaned block is open again, with its members.
 */
export async function followMined(
  deps: LaneDeps,
  mined: readonly TransactionFacts[],
): Promise<void> {
  const { clock, follows, waits } = deps;
  const nowMs = clock.now();
  const timesOf = ({ id }: TransactionFacts): FollowTimes =>
    follows.get(id) ?? { sinceMs: nowMs, polledMs: nowMs, dueMs: nowMs };
  if (mined.some((transaction) => timesOf(transaction).dueMs <= nowMs)) {
    const due = mined.filter((transaction) => {
      const { polledMs, dueMs } = timesOf(transaction);
      return (polledMs + dueMs) / 2 <= nowMs;
    });
    const final = await followDue(deps, due);
    const waited = final.map((transaction) => nowMs - timesOf(transaction).sinceMs);
    waits.finalAfterMs = [...waits.finalAfterMs, ...waited].slice(-WAITS_REMEMBERED);
    const [usualMs] = waits.finalAfterMs.toSorted((one, other) => one - other);
    for (const transaction of due) {
      const { sinceMs } = timesOf(transaction);
      const dueMs = nowMs + finalityDelay(nowMs - sinceMs, usualMs);
      follows.set(transaction.id, { sinceMs, polledMs: nowMs, dueMs });
    }
  }
  const left = new Set(mined.map(({ id }) => id));
  for (const id of follows.keys()) if (!left.has(id)) follows.delete(id);
}

/** Reads whether transactions are still in their blocks, and returns those that are final. */
async function followDue(
  deps: LaneDeps,
  mined: readonly TransactionFacts[],
): Promise<readonly TransactionFacts[]> {
  const { db, chain, log, onChanged } = deps;
  const finalNumber = await chain.getFinalNumber();
  // Transactions of one block share its read: a lane mines several in each.
  const blocks = new Map<bigint, Promise<BlockRef | null>>();
  const readBlock = (number: bigint) => {
    const block = blocks.get(number) ?? chain.getBlock(number);
    blocks.set(number, block);
    return block;
  };
  const final: TransactionFacts[] = [];
  for (const transaction of mined) {
    assert(transaction.mined !== null, "a mined transaction names its block");
    const block = await readBlock(transaction.mined.blockNumber);
    if (block === null && (await chain.getHead()).number < transaction.mined.blockNumber) {
      // The node is behind this block, so it cannot say yet whether the block is orphaned.
      continue;
    }
    if (block?.hash !== transaction.mined.blockHash) {
      const woken = await db.transaction().execute(async (tx) => {
        if (!(await store.recordOrphaned(tx, transaction.id))) return [];
        const members = await store.listMembers(tx, transaction.id);
        for (const { id } of members) await store.recordOrphaned(tx, id);
        return onChanged(tx, [
          { ...transaction, state: "assigned", mined: null },
          ...members.map((member) => ({ ...member, state: "carried", mined: null }) as const),
        ]);
      });
      deps.wakeOwners(woken);
      log.warn({ intent: transaction.intent }, "reorg: transaction orphaned");
    } else if (transaction.mined.blockNumber <= finalNumber) final.push(transaction);
  }
  await allOrEach(final, async (some) => {
    const ids = some.map(({ id }) => id);
    deps.wakeOwners(
      await db.transaction().execute(async (tx) => onChanged(tx, await store.recordFinal(tx, ids))),
    );
  });
  return final;
}
