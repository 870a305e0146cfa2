/** Records receipts of a lane's transactions, and follows mined transactions until they are final. */
import type { BlockRef, Chain, Receipt } from "../chains/port/index.ts";
import { assert } from "../core/assert.ts";
import { followDelay } from "../jobs/delays.ts";
import { listAttempts } from "./attempts.ts";
import * as store from "./store.ts";
import { type Attempt, kindOf, type LaneTransaction, type MinedFacts } from "./types.ts";
import { labelsOf, type LaneDeps, USED_NONCE_RETRY_MS } from "./lane-deps.ts";

/** Records the receipt of a transaction whose nonce the chain has used. Returns false if no attempt has a receipt. */
export async function recordReceipt(
  deps: LaneDeps,
  transaction: LaneTransaction,
): Promise<boolean> {
  const { db, chain } = deps;
  const attempts = await listAttempts(db, transaction.id);
  const found = await findReceipt(chain, attempts);
  if (found) return recordMined(deps, transaction, found.receipt, found.attempt);
  await reportUsedNonce(deps, transaction, attempts);
  return false;
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
 * Records the receipt of a transaction and of its members, each with its own outcome, and notifies their owners in the same
 * database transaction. Idempotent: a concurrent poll that recorded it first wins.
 */
export async function recordMined(
  deps: LaneDeps,
  transaction: LaneTransaction,
  receipt: Receipt,
  { cancels }: Pick<Attempt, "cancels">,
): Promise<true> {
  const { db, chain, log, crashPoint, onChanged } = deps;
  crashPoint(`${kindOf(transaction.intent)}.mined`);
  const facts: MinedFacts = {
    txHash: receipt.txHash,
    blockHash: receipt.blockHash,
    blockNumber: receipt.blockNumber,
    // A cancellation carries out nothing of the call whose nonce it took.
    succeeded: receipt.succeeded && !cancels,
    gasCost: receipt.gasCost,
  };
  const woken = await db.transaction().execute(async (tx) => {
    if (!(await store.recordMined(tx, transaction.id, facts))) return [];
    const members = (await store.listMembers(tx, transaction.id)).map((member) => {
      const succeeded = !cancels && chain.tookEffect(receipt, member.call);
      return { ...member, state: "mined", mined: { ...facts, succeeded } } as const;
    });
    if (members.length > 0) await store.recordMembersMined(tx, members);
    return onChanged(tx, [{ ...transaction, state: "mined", mined: facts }, ...members]);
  });
  crashPoint(`${kindOf(transaction.intent)}.recorded`);
  deps.wakeOwners(woken);
  if (!receipt.succeeded) deps.metrics.laneReverts.inc(labelsOf(deps.signer));
  log.info(
    { intent: transaction.intent, txHash: facts.txHash, succeeded: facts.succeeded },
    "mined",
  );
  return true;
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

/**
 * Follows mined transactions until final, the longer they wait the less often. A transaction in an orphaned block is open
 * again, with its members.
 */
export async function followMined(
  deps: LaneDeps,
  mined: readonly LaneTransaction[],
): Promise<void> {
  const { clock, follows } = deps;
  const nowMs = clock.now();
  const due = mined.filter(({ id }) => (follows.get(id)?.dueMs ?? nowMs) <= nowMs);
  const sinceOf = ({ id }: LaneTransaction) => follows.get(id)?.sinceMs ?? nowMs;
  if (due.length > 0) await followDue(deps, due);
  for (const transaction of due) {
    const sinceMs = sinceOf(transaction);
    follows.set(transaction.id, { sinceMs, dueMs: nowMs + followDelay(nowMs - sinceMs) });
  }
  const left = new Set(mined.map(({ id }) => id));
  for (const id of follows.keys()) if (!left.has(id)) follows.delete(id);
}

async function followDue(deps: LaneDeps, mined: readonly LaneTransaction[]): Promise<void> {
  const { db, chain, log, onChanged } = deps;
  const finalNumber = await chain.getFinalNumber();
  // Transactions of one block share its read: a lane mines several in each.
  const blocks = new Map<bigint, Promise<BlockRef | null>>();
  const readBlock = (number: bigint) => {
    const block = blocks.get(number) ?? chain.getBlock(number);
    blocks.set(number, block);
    return block;
  };
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
    } else if (transaction.mined.blockNumber <= finalNumber) {
      const woken = await db.transaction().execute(async (tx) => {
        if (!(await store.recordFinal(tx, transaction.id))) return [];
        const members = await store.listMembers(tx, transaction.id);
        if (members.length > 0) await store.recordMembersFinal(tx, transaction.id);
        const all = [transaction, ...members];
        return onChanged(
          tx,
          all.map((one) => ({ ...one, state: "final" }) as const),
        );
      });
      deps.wakeOwners(woken);
    }
  }
}
