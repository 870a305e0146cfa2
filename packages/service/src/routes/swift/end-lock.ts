/** Ends the lock of a delivery: claims it when the payout is final, and returns it when it can no longer be paid. */
import type { Call, Lock, OpenLock } from "../../chains/port/index.ts";
import { OperatingError } from "../../core/errors.ts";
import { assert } from "../../core/assert.ts";
import type { DepositAddress } from "../../addresses/index.ts";
import {
  failureOf,
  getByIntent,
  isOver,
  type IntentName,
  type LaneChoice,
  listMinedHashes,
} from "../../transactions/index.ts";
import type { AttestationId } from "./attestation-requests.ts";
import { getAttestation } from "./attestations.ts";
import { listPayoutHints } from "./find-payout.ts";
import * as store from "./store.ts";
import type { Delivery } from "./store.ts";
import {
  assertNotRefused,
  chainOf,
  type DeliveryDeps,
  getLock,
  isPast,
  lanesOf,
  lockOf,
  move,
  nowSeconds,
  ORDER_LIFETIME_S,
  plan,
  type PlanArgs,
  takeStep,
  answerDueMs,
  poll,
  pollAnswer,
  pollFinality,
} from "./delivery-deps.ts";

/** Returns the escrow lock of a delivery. */
export function openLockOf(delivery: Delivery, address: DepositAddress) {
  return { commitment: address.commitment, facts: lockOf(delivery, address) };
}

/**
 * Plans the transaction that ends a lock. Where anybody can add to a lock's account, a third party can make this fail
 * repeatedly: after the first failure it uses the form that nobody can block.
 */
export async function planEnding(
  deps: DeliveryDeps,
  delivery: Delivery,
  args: Pick<PlanArgs, "intent" | "what" | "like" | "change" | "attestation"> & {
    readonly lock: Lock | null;
    readonly lanes: LaneChoice;
    /** The previous transaction for this purpose, if any. */
    readonly previous: IntentName;
    readonly buildCall: (ending: Pick<OpenLock, "held" | "whole">) => Call;
  },
): Promise<void> {
  const { lock, previous, buildCall, ...rest } = args;
  const chain = chainOf(deps, delivery.srcChain);
  const planBy = (ending: Pick<OpenLock, "held" | "whole">) =>
    plan(deps, delivery, { ...rest, chain, call: buildCall(ending) });
  const held = lock?.held;
  if (held === undefined) return planBy({});
  const failure = failureOf(await getByIntent(deps.db, previous));
  if (failure && failure.txHash !== null) return planBy({ held, whole: true });
  try {
    return await planBy({ held });
  } catch (error) {
    const wouldFail = error instanceof OperatingError && error.code === "SIMULATION_REVERTED";
    if (!wouldFail) throw error;
    return planBy({ held, whole: true });
  }
}

/** Requests the attestor's signature for the next claim, in the transaction that counts it. */
export async function requestClaim(
  deps: DeliveryDeps,
  delivery: Delivery,
  address: DepositAddress,
): Promise<void> {
  const number = delivery.claims + 1;
  const hints = await listPayoutHints(deps, delivery);
  const deadline = nowSeconds(deps) + ORDER_LIFETIME_S;
  await takeStep(deps, {
    delivery,
    change: { claims: number, pollAtMs: answerDueMs(deps) },
    attestation: {
      id: `claim:${delivery.id}:${number}`,
      deliveryId: delivery.id,
      deadline,
      request: {
        kind: "claim",
        srcChain: delivery.srcChain,
        commitment: address.commitment,
        lock: lockOf(delivery, address),
        claim: claimOf(delivery, deadline),
        hints,
      },
    },
  });
  deps.wakeAttestor("claim");
}

/** Follows the claim until it is final. */
export async function advanceClaiming(
  deps: DeliveryDeps,
  delivery: Delivery,
  address: DepositAddress,
): Promise<void> {
  const sent = await getByIntent(deps.db, `claim:${delivery.id}:${delivery.claims}`);
  // The lane follows it, and wakes this when it is final.
  if (sent?.mined?.succeeded && !isOver(sent)) return pollFinality(deps, delivery);
  const lock = await getLock(deps, delivery, address, "final");
  if (lock?.state === "claimed") {
    const claimed = sent?.mined?.succeeded ? { claimedTxHash: sent.mined.txHash } : {};
    await takeStep(deps, { delivery, change: { state: "claimed", ...claimed } });
    deps.log.info({ deliveryId: delivery.id }, "claimed");
    return;
  }
  if (failureOf(sent)) {
    deps.log.warn({ deliveryId: delivery.id }, "claim reverted, planning another");
    await takeStep(deps, { delivery, change: { state: "delivered" } });
    return poll(deps, delivery);
  }
  return pollFinality(deps, delivery);
}

/** Returns a lock whose payout is too late to its deposit address, where it settles again. */
export async function giveBack(
  deps: DeliveryDeps,
  delivery: Delivery,
  address: DepositAddress,
): Promise<void> {
  const attestationId: AttestationId = `return:${delivery.id}:${delivery.returns}`;
  const attestation =
    delivery.returns > 0
      ? await getAttestation(deps.db, deps.attestors, attestationId, ({ deadline }) => ({
          kind: "return",
          chainId: delivery.srcChain,
          order: { deliveryId: delivery.id, deadline },
        }))
      : null;
  const intent: IntentName = `return:${delivery.id}:${delivery.returns}`;
  const sent = delivery.returns > 0 ? await getByIntent(deps.db, intent) : null;
  if (!attestation || isPast(deps, attestation.deadline) || failureOf(sent)) {
    return requestReturn(deps, delivery, address);
  }
  assertNotRefused(attestation, "The attestors refused to sign the return.");
  if (attestation.signatures === null) return pollAnswer(deps, delivery);
  const source = chainOf(deps, delivery.srcChain);
  const order = { deliveryId: delivery.id, deadline: attestation.deadline };
  const lock = await getLock(deps, delivery, address, "latest");
  const { signatures } = attestation;
  return planEnding(deps, delivery, {
    lock,
    lanes: lanesOf(deps, delivery.srcChain).returns,
    intent,
    previous: `return:${delivery.id}:${delivery.returns - 1}`,
    buildCall: (ending) =>
      source.buildReturn(order, signatures, { ...openLockOf(delivery, address), ...ending }),
    what: "The return",
    change: { state: "returning" },
    attestation: attestationId,
  });
}

async function requestReturn(
  deps: DeliveryDeps,
  delivery: Delivery,
  address: DepositAddress,
): Promise<void> {
  const number = delivery.returns + 1;
  const hints = await listMinedHashes(deps.db, delivery.settlementId);
  const deadline = nowSeconds(deps) + ORDER_LIFETIME_S;
  const { srcChain, id: deliveryId } = delivery;
  const { commitment } = address;
  await takeStep(deps, {
    delivery,
    change: { returns: number, pollAtMs: answerDueMs(deps) },
    attestation: {
      id: `return:${deliveryId}:${number}`,
      deliveryId,
      deadline,
      request: {
        kind: "return",
        srcChain,
        commitment,
        lock: lockOf(delivery, address),
        order: { deliveryId, deadline },
        hints,
      },
    },
  });
  deps.wakeAttestor("return");
  deps.log.warn({ deliveryId }, "payout window passed, returning the lock");
}

/** Follows the return until it is final. */
export async function advanceReturning(
  deps: DeliveryDeps,
  delivery: Delivery,
  address: DepositAddress,
): Promise<void> {
  const lock = await getLock(deps, delivery, address, "final");
  if (lock?.state === "returned" || lock?.state === "taken_back") {
    return recordGivenBack(deps, delivery, lock.state);
  }
  const sent = await getByIntent(deps.db, `return:${delivery.id}:${delivery.returns}`);
  if (failureOf(sent)) {
    deps.log.warn({ deliveryId: delivery.id }, "return reverted, planning another");
    await takeStep(deps, { delivery, change: { state: "locked" } });
    return poll(deps, delivery);
  }
  return pollFinality(deps, delivery);
}

/** Records that the lock ended unpaid at a final block, and releases its reservation. */
export async function recordGivenBack(
  deps: DeliveryDeps,
  delivery: Delivery,
  state: "returned" | "taken_back",
): Promise<void> {
  // Read after the lock's end, which is therefore not above it, unless this node is behind the one that showed the end.
  const { number: head } = await chainOf(deps, delivery.srcChain).getHead();
  const sent = await getByIntent(deps.db, `return:${delivery.id}:${delivery.returns}`);
  const mined = sent?.mined?.blockNumber ?? head;
  const endedHeight = mined > head ? mined : head;
  await deps.db.transaction().execute(async (tx) => {
    if (!(await move(tx, delivery, state, { endedHeight }))) return;
    await store.deleteReservation(tx, delivery.settlementId);
    await deps.onGivenBack(tx, delivery.settlementId);
  });
  deps.wakeSettlements(delivery.srcChain);
  deps.log.warn({ deliveryId: delivery.id, state }, "lock returned or taken back");
}

/** The payout's block was orphaned: the lane rebroadcasts, and the payout is looked up again. */
export async function reopen(deps: DeliveryDeps, delivery: Delivery): Promise<void> {
  deps.log.warn({ deliveryId: delivery.id }, "reorg: payout orphaned");
  await deps.db.transaction().execute(async (tx) => {
    const change = { deliveredTxHash: null, deliveredAmount: null };
    if (!(await move(tx, delivery, "locked", change))) return;
    await store.alignReservation(tx, delivery.settlementId);
  });
  return poll(deps, delivery);
}

/** Returns the proof that releases a delivery's lock to the treasury. */
export function claimOf(delivery: Delivery, deadline: bigint) {
  assert(delivery.deliveredAmount !== null, "only a recorded delivery is claimed");
  return { deliveryId: delivery.id, paidAmount: delivery.deliveredAmount, deadline };
}
