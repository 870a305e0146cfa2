/**
 * Delivery worker: pays each lock once, then claims the lock from the escrow.
 *
 * Every poll checks the chain first: before a payout is ordered, the destination is asked whether the delivery id was paid,
 * regardless of the database. Several payouts of one delivery id are harmless, because the contract pays an id once.
 */
import { isConfirmed } from "../confirmed.ts";
import type { FoundDelivery, Lock, ReadAt } from "../../chains/port/index.ts";
import { errorDelay } from "../../jobs/delays.ts";
import { createDuePoll, type DueRows, workAndRecordError } from "../../jobs/due.ts";
import { OperatingError } from "../../core/errors.ts";
import { gatherCalls, shareStatements } from "../../db/gather.ts";
import { assert, assertNever } from "../../core/assert.ts";
import type { Hex32 } from "../../core/hex.ts";
import type { DepositAddress } from "../../addresses/index.ts";
import {
  failureOf,
  getByIntent,
  isOver,
  type IntentName,
  type LaneTransaction,
  listMinedHashes,
} from "../../transactions/index.ts";
import { type AttestationId, parseRequest } from "./attestation-requests.ts";
import { getAttestation, insertAttestation, type NewAttestation } from "./attestations.ts";
import { endVanished, isCovered } from "./early/cover.ts";
import { findPayable } from "./early/find-payable.ts";
import { count, uncount } from "./early/store.ts";
import { inSpan } from "../../telemetry/spans.ts";
import { findPayout } from "./find-payout.ts";
import { mayMove } from "./lifecycle.ts";
import * as searches from "./payout-searches.ts";
import * as store from "./store.ts";
import type { Delivery } from "./store.ts";
import {
  advanceClaiming,
  advanceReturning,
  claimOf,
  giveBack,
  openLockOf,
  planEnding,
  recordGivenBack,
  reopen,
  requestClaim,
} from "./end-lock.ts";
import {
  assertNotRefused,
  chainOf,
  type DeliveryDeps,
  getLock,
  isPast,
  lanesOf,
  lockOf,
  nowSeconds,
  paidLockOf,
  payoutOf,
  plan,
  takeStep,
  answerDueMs,
  poll,
  pollAnswer,
  pollLock,
  pollSent,
  pollFinality,
  writeError,
} from "./delivery-deps.ts";

const DELIVERIES_AT_ONCE = 60;

/** Creates the polls of the deliveries to a chain: of payouts and returns of locks, and of claims. */
export function createDeliveryPolls(
  deps: DeliveryDeps,
  destChain: number,
): { readonly payouts: () => Promise<boolean>; readonly claims: () => Promise<boolean> } {
  const pollOf = (rows: DueRows<Hex32>) =>
    createDuePoll(deps, {
      rows,
      chainId: destChain,
      limit: DELIVERIES_AT_ONCE,
      work: (id) => lookSafely(deps, id),
    });
  return { payouts: pollOf(store.duePayouts), claims: pollOf(store.dueClaims) };
}

function lookSafely(deps: DeliveryDeps, id: Hex32): Promise<void> {
  const { db, clock, log } = deps;
  return workAndRecordError({
    read: () => store.getDelivery(db, id),
    work: (delivery) => {
      const { settlementId, destChain: chainId, state } = delivery;
      const subject = { settlementId, chainId, deliveryId: id, state };
      return inSpan("delivery", subject, () => advanceDelivery(deps, delivery));
    },
    writeError: (delivery, error) => writeError(deps, delivery, error),
    showsErrors: ({ state }) => state === "locked" || state === "returning",
    report: (thrown, { code }) =>
      log.error({ err: thrown, deliveryId: id, code }, "delivery failed, retrying"),
    retryLater({ lockedAt }) {
      const nowMs = clock.now();
      return store.reschedule(db, id, nowMs + errorDelay(nowMs - Number(lockedAt) * 1_000));
    },
  });
}

async function advanceDelivery(given: DeliveryDeps, delivery: Delivery): Promise<void> {
  const deps = endsLock(given, delivery) ? { ...given, chains: given.endingChains } : given;
  const address = await deps.readAddress(delivery.settlementId);
  switch (delivery.state) {
    case "locked":
      return advanceLocked(deps, delivery, address);
    case "delivered":
      return advanceDelivered(deps, delivery, address);
    case "claiming":
      return advanceClaiming(deps, delivery, address);
    case "returning":
      return advanceReturning(deps, delivery, address);
    case "claimed":
    case "returned":
    case "taken_back":
      return;
    default:
      return assertNever(delivery.state);
  }
}

/** Reports whether only the end of a lock is left: its claim, or its return. Both have a deadline. */
function endsLock(deps: DeliveryDeps, { state, lockedAt }: Delivery): boolean {
  return state !== "locked" || isPast(deps, lockedAt + deps.payoutWindowS);
}

async function advanceLocked(
  deps: DeliveryDeps,
  delivery: Delivery,
  address: DepositAddress,
): Promise<void> {
  // No attestor was asked for a payout: it is looked for once its lock can be paid.
  if (delivery.orders === 0) return requestOrder(deps, delivery, address);
  const attestationId: AttestationId = `delivery:${delivery.id}:${delivery.orders}`;
  const attestation = await getAttestation(deps.db, deps.attestors, attestationId, ({ row }) => ({
    kind: "delivery",
    chainId: delivery.destChain,
    order: payoutOf(delivery, address, windowStartOf(row)),
  }));
  const isUsable = attestation !== null && !isPast(deps, attestation.deadline);
  const intent: IntentName = `deliver:${delivery.id}:${delivery.orders}`;
  const sent = await getByIntent(deps.db, intent);
  const failure = failureOf(sent);
  // The lane tells what becomes of our own payout: until it is mined, the chain shows nothing new.
  if (isUsable && sent && !sent.mined && !failure) return pollSent(deps, delivery);

  const found = (await readOwnPayout(deps, delivery, sent)) ?? (await findPayout(deps, delivery));
  if (found === "searching") return poll(deps, delivery);
  if (found) return recordDelivered(deps, delivery, { found, sent, address });
  if (!attestation || !isUsable) return requestOrder(deps, delivery, address);
  assertNotRefused(attestation, "The attestors refused to sign the payout.");
  if (attestation.signatures === null) return pollAnswer(deps, delivery);
  if (failure) {
    const { txHash } = failure;
    deps.log.warn({ intent, txHash }, "payout not mined, requesting another");
    await requestOrder(deps, delivery, address);
    throw txHash === null
      ? new OperatingError("INTERNAL", "The signer refused the payout transaction.")
      : new OperatingError("TX_REVERTED", "The payout transaction reverted.", {
          details: { txHash },
        });
  }
  // A server that lags does not show yet what is mined.
  if (sent) return poll(deps, delivery);

  const order = payoutOf(delivery, address, windowStartOf(attestation.row));
  const destination = chainOf(deps, delivery.destChain);
  return plan(deps, delivery, {
    chain: destination,
    lanes: { lanes: lanesOf(deps, delivery.destChain).deliver },
    intent,
    call: destination.buildDeliver(order, attestation.signatures),
    what: "The delivery",
    like: `payout of ${order.commitment.destToken}`,
    change: {},
    attestation: attestationId,
  });
}

/** Returns our own payout from the receipt of its transaction; null where it was not mined, or its receipt is not there. */
async function readOwnPayout(
  deps: DeliveryDeps,
  { id, destChain }: Delivery,
  sent: LaneTransaction | null,
): Promise<FoundDelivery | null> {
  if (!sent?.mined?.succeeded) return null;
  // A search that a lagging node caused ends where the payout is found.
  if (await searches.get(deps.db, id)) return null;
  // The members of a batch share the answer.
  const receipt = await chainOf(deps, destChain).getReceipt(sent.mined.txHash);
  const paid = receipt?.effects.find(
    (effect) => effect.kind === "delivered" && effect.deliveryId === id,
  );
  if (!receipt || paid?.kind !== "delivered") return null;
  const { to, token, amount, deliveryId, commitment } = paid;
  const { txHash, blockNumber } = receipt;
  return { to, token, amount, deliveryId, commitment, txHash, blockNumber };
}

/** Returns the start of the payout window that the attestors were asked to sign. */
function windowStartOf(row: unknown): bigint {
  const request = parseRequest(row);
  assert(request.kind === "delivery", "a payout has its own request");
  return request.order.windowStart;
}

/**
 * Requests the next payout signature, in the transaction that counts it. A lock that is not final is paid within the bounds of
 * its chain's early payouts, and waits for finality where these have no room.
 */
async function requestOrder(
  deps: DeliveryDeps,
  delivery: Delivery,
  address: DepositAddress,
): Promise<void> {
  const { srcChain, destChain, destToken: token, payAmount: amount } = delivery;
  const hints = await listMinedHashes(deps.db, delivery.settlementId);
  const rules = deps.early.get(srcChain);
  const payable = await findPayable(chainOf(deps, srcChain), lockOf(delivery, address), {
    hints,
    rules,
    paid: { destChain, token, amount },
    lockedAt: delivery.lockedAt,
  });
  if (!payable) {
    await endVanished(deps, delivery, address);
    return pollLock(deps, delivery);
  }
  if (delivery.orders === 0) {
    // A restored database may lack a payout.
    const found = await findPayout(deps, delivery);
    if (found === "searching") return poll(deps, delivery);
    if (found) return recordDelivered(deps, delivery, { found, sent: null, address });
  }
  const { lock, windowStart, worth, after } = payable;
  if (lock.state === "returned" || lock.state === "taken_back") {
    await uncount(deps.db, delivery.id);
    return recordGivenBack(deps, delivery, lock.state);
  }
  // The contract pays until then, and refuses every later payout. The row may have an earlier block's time of the lock.
  const { lockedAt } = lock;
  const deadline = windowStart + deps.payoutWindowS;
  if (nowSeconds(deps) >= deadline) {
    return worth === null ? giveBack(deps, delivery, address) : pollLock(deps, delivery);
  }
  await assertClaimable(deps, delivery, { lock, at: worth === null ? "final" : "latest" });
  const number = delivery.orders + 1;
  const change = {
    orders: number,
    lockedAt,
    paidAtDepth: after ?? ("finalized" as const),
    waitsFor: null,
    pollAtMs: answerDueMs(deps),
  };
  const attestation: NewAttestation = {
    id: `delivery:${delivery.id}:${number}`,
    deliveryId: delivery.id,
    deadline,
    request: { kind: "delivery", order: payoutOf(delivery, address, windowStart), hints },
  };
  if (worth === null) {
    // The lock is final: whether or not this request is made, its payout risks nothing.
    await uncount(deps.db, delivery.id);
    await takeStep(deps, { delivery, change, attestation });
  } else {
    const counted = { deliveryId: delivery.id, srcChain, worth, usableUntil: deadline };
    const waitsFor = await deps.db.transaction().execute(async (tx) => {
      const waits = await count(tx, counted, rules?.terms.exposure ?? 0n);
      if (waits !== null) {
        if (waits !== delivery.waitsFor) {
          await store.updateDelivery(tx, delivery, { waitsFor: waits });
        }
      } else if (await store.updateDelivery(tx, delivery, change)) {
        await insertAttestation(tx, attestation);
      }
      return waits;
    });
    if (waitsFor !== null) return pollLock(deps, delivery);
  }
  deps.wakeAttestor("delivery");
}

/**
 * Throws CONFIG_MISSING if no lane was a relayer when the lock was made: a removal could then keep the operator from
 * claiming what it paid. The attestor checks its own listing. An unpaid lock is returned after the payout window.
 */
async function assertClaimable(
  deps: DeliveryDeps,
  { srcChain }: Delivery,
  { lock: { lockedAt: time }, at }: { readonly lock: Lock; readonly at: ReadAt },
): Promise<void> {
  const source = chainOf(deps, srcChain);
  const { lanes, spare = [] } = lanesOf(deps, srcChain).claims;
  for (const account of [...lanes, ...spare]) {
    if (await source.wasListed({ role: "relayer", account, time }, at)) return;
  }
  throw new OperatingError(
    "CONFIG_MISSING",
    "No lane that claims was a relayer of the factory when the lock was made, so its claim is not certain.",
    { details: { reason: "relayer_not_listed", chainId: srcChain } },
  );
}

/** Records a payout that the service's own reader saw, once it has the configured confirmations. */
async function recordDelivered(
  deps: DeliveryDeps,
  delivery: Delivery,
  {
    found,
    sent,
    address,
  }: {
    readonly found: FoundDelivery;
    /** Our own transaction, which may not be the one that made it. */
    readonly sent: LaneTransaction | null;
    readonly address: DepositAddress;
  },
): Promise<void> {
  if (
    found.to !== delivery.destWallet ||
    found.token !== delivery.destToken ||
    found.amount < delivery.minOut
  ) {
    throw new OperatingError("INTERNAL", "The payout on chain differs from the promised one.", {
      details: { txHash: found.txHash },
    });
  }
  const confirmations = deps.deliveryConfirmations.get(delivery.destChain) ?? 1;
  if (!(await isConfirmed(chainOf(deps, delivery.destChain), found, confirmations)))
    return poll(deps, delivery);
  await recordPayouts(deps.db, { deps, delivery, found });
  deps.wakeSettlements(delivery.srcChain);
  deps.log.info({ deliveryId: delivery.id, txHash: found.txHash }, "delivered");
  const isOurs = sent?.mined?.succeeded === true && sent.mined.txHash === found.txHash;
  return isOurs && !isOver(sent) ? followPayout(deps, delivery, address) : poll(deps, delivery);
}

/**
 * Schedules the next poll of a payout of ours that is not final: the lane follows it until then, and forgets it if a reorg undoes
 * it.
 */
async function followPayout(
  deps: DeliveryDeps,
  delivery: Delivery,
  address: DepositAddress,
): Promise<void> {
  const isSafe = await isCovered(deps, delivery, address);
  return isSafe ? pollFinality(deps, delivery) : pollLock(deps, delivery);
}

/**
 * Records payouts of one turn of the event loop in one transaction. Rows of deliveries come first and those of settlements
 * last, each in the order of their ids, as where a lane wakes them.
 */
const recordPayouts = gatherCalls(
  async (
    db,
    all: readonly {
      readonly deps: DeliveryDeps;
      readonly delivery: Delivery;
      readonly found: FoundDelivery;
    }[],
  ) => {
    const payouts = [...new Map(all.map((one) => [one.delivery.id, one])).values()];
    const updates = payouts.map(({ delivery, found }) => {
      assert(mayMove(delivery.state, "delivered"), `a delivery is paid while it is locked`);
      const { txHash: deliveredTxHash, amount: deliveredAmount } = found;
      const change = { state: "delivered", deliveredTxHash, deliveredAmount, error: null } as const;
      return { delivery, change };
    });
    await db.transaction().execute(async (tx) => {
      const moved = await store.updateDeliveries(tx, updates);
      const paid = payouts
        .filter(({ delivery }) => moved.has(delivery.id))
        .toSorted((one, other) =>
          one.delivery.settlementId < other.delivery.settlementId ? -1 : 1,
        );
      const [first] = paid;
      if (!first) return;
      const amounts = paid.map(({ delivery, found }) => ({ ...delivery, amount: found.amount }));
      await store.countPayouts(tx, amounts, first.deps.clock.now());
      await store.endReservations(tx, amounts);
      shareStatements(tx);
      await Promise.all(
        paid.map(
          ({ deps, delivery: { settlementId, id: deliveryId }, found: { txHash, amount } }) =>
            deps.onDelivered(tx, { settlementId, deliveryId, txHash, amount }),
        ),
      );
    });
    return all.map(() => undefined);
  },
);

/**
 * Returns whether a node that shows no payout may only be behind: our own transaction is recorded as mined, and no node shows
 * another block at its height. After a reorg a block there differs, or the lane forgets where it was mined.
 */
async function mayBeBehind(deps: DeliveryDeps, delivery: Delivery): Promise<boolean> {
  const sent = await getByIntent(deps.db, `deliver:${delivery.id}:${delivery.orders}`);
  const mined = sent?.mined;
  if (!mined?.succeeded || mined.txHash !== delivery.deliveredTxHash) return false;
  const block = await chainOf(deps, delivery.destChain).getBlock(mined.blockNumber);
  return block === null || block.hash === mined.blockHash;
}

async function advanceDelivered(
  deps: DeliveryDeps,
  delivery: Delivery,
  address: DepositAddress,
): Promise<void> {
  const destination = chainOf(deps, delivery.destChain);
  const source = chainOf(deps, delivery.srcChain);
  const payout = await getByIntent(deps.db, `deliver:${delivery.id}:${delivery.orders}`);
  const isOurs =
    payout?.mined?.succeeded === true && payout.mined.txHash === delivery.deliveredTxHash;
  if (isOurs && !isOver(payout)) return followPayout(deps, delivery, address);
  // Looked at once before the first claim is requested: what is final stays.
  if (!isOurs || delivery.claims === 0) {
    // Of our own payout, which the lane saw become final, the state at a final block is proof enough.
    const isProved = isOurs && (await destination.isDelivered(paidLockOf(delivery), "final"));
    const found = isProved ? null : await findPayout(deps, delivery);
    if (found === "searching") return poll(deps, delivery);
    // After a reorg another transaction may have made it: the claim is proved by that one.
    if (!isProved && found?.txHash !== delivery.deliveredTxHash) {
      if (found === null && (await mayBeBehind(deps, delivery))) return poll(deps, delivery);
      return reopen(deps, delivery);
    }
    if (!(await isCovered(deps, delivery, address))) return pollLock(deps, delivery);
    const isFinal = isProved || (await destination.isDelivered(paidLockOf(delivery), "final"));
    if (!isFinal) return pollFinality(deps, delivery);
    if (delivery.claims === 0) return requestClaim(deps, delivery, address);
  } else if (!(await isCovered(deps, delivery, address))) {
    return pollLock(deps, delivery);
  }
  const lock = await getLock(deps, delivery, address, "latest");
  if (lock?.state === "claimed") {
    // Claimed by an earlier transaction or another relayer: only its finality is missing.
    await takeStep(deps, { delivery, change: { state: "claiming", error: null } });
    return poll(deps, delivery);
  }

  const attestationId: AttestationId = `claim:${delivery.id}:${delivery.claims}`;
  const attestation = await getAttestation(
    deps.db,
    deps.attestors,
    attestationId,
    ({ deadline }) => ({
      kind: "claim",
      chainId: delivery.srcChain,
      order: claimOf(delivery, deadline),
    }),
  );
  const intent: IntentName = `claim:${delivery.id}:${delivery.claims}`;
  const sent = await getByIntent(deps.db, intent);
  if (!attestation || isPast(deps, attestation.deadline) || failureOf(sent)) {
    return requestClaim(deps, delivery, address);
  }
  assertNotRefused(attestation, "The attestors refused to sign the claim.");
  if (attestation.signatures === null) return pollAnswer(deps, delivery);

  const order = claimOf(delivery, attestation.deadline);
  const { signatures } = attestation;
  return planEnding(deps, delivery, {
    lock,
    lanes: lanesOf(deps, delivery.srcChain).claims,
    intent,
    previous: `claim:${delivery.id}:${delivery.claims - 1}`,
    buildCall: (ending) =>
      source.buildClaim(order, signatures, { ...openLockOf(delivery, address), ...ending }),
    what: "The claim",
    like: `claim of ${delivery.token} from ${delivery.escrow}`,
    change: { state: "claiming", error: null },
    attestation: attestationId,
  });
}
