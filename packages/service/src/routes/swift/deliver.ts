/**
 * Delivery worker: pays each lock once, then claims the lock from the escrow.
 *
 * Every poll checks the chain first: before a payout is ordered, the destination is asked whether the delivery id was paid,
 * regardless of the database. Several payouts of one delivery id are harmless, because the contract pays an id once.
 */
import { getConfigured } from "../configured.ts";
import { isConfirmed } from "../confirmed.ts";
import type { ErrorObject } from "@sluice/sdk/wire";
import type {
  Call,
  Chain,
  Chains,
  Payout,
  FoundDelivery,
  Lock,
  OpenLock,
  ReadAt,
} from "../../chains/port/index.ts";
import { LEASE_MS, ERROR_RETRY_MS } from "../../jobs/delays.ts";
import { workOnDue, workAndRecordError } from "../../jobs/due.ts";
import { OperatingError } from "../../core/errors.ts";
import { assert, assertNever } from "../../core/assert.ts";
import type { Address, Hex32 } from "../../core/hex.ts";
import type { Clock, Random } from "../../core/ports.ts";
import type { DepositAddress } from "../../addresses/index.ts";
import type { Db, Tx } from "../../db/schema.ts";
import type { Log } from "../../telemetry/log.ts";
import {
  failureOf,
  getByIntent,
  type IntentName,
  listMinedHashes,
  planCall,
  submitIntent,
} from "../../transactions/index.ts";
import {
  type Attestation,
  type AttestationId,
  getAttestation,
  insertAttestation,
} from "./attestations.ts";
import { type DeliveryState, mayMove } from "./lifecycle.ts";
import * as store from "./store.ts";
import type { Delivery } from "./store.ts";

export interface DeliveryDeps {
  readonly db: Db;
  readonly chains: Chains;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  /** Lanes of payouts by destination chain, and of claims and returns by source chain. */
  readonly lanes: ReadonlyMap<
    number,
    { readonly deliver: readonly Address[]; readonly claim: readonly Address[] }
  >;
  readonly deliveryConfirmations: ReadonlyMap<number, number>;
  /** Seconds after its lock in which a delivery may be paid; afterwards the lock is returned. */
  readonly payoutWindowS: bigint;
  /** Reads the deposit address of a settlement. */
  readonly readAddress: (settlementId: string) => Promise<DepositAddress>;
  /** Wakes the settlement, in the transaction that records the delivery or an error. */
  readonly onChanged: (tx: Tx, settlementId: string) => Promise<void>;
  /** Wakes the settlement, in the transaction that records that the value is back in the wallet or with its refund authority. */
  readonly onGivenBack: (tx: Tx, settlementId: string) => Promise<void>;
  /** Called after that transaction commits. */
  readonly wakeSettlements: () => void;
  /** Tells the attestor that a request is waiting. */
  readonly wakeAttestor: () => void;
  /** Tells the lanes that a transaction is queued. */
  readonly wakeLanes: () => void;
  readonly pollMs: number;
}

/** Seconds for which a payout, claim or return may be used after its request. */
const ORDER_LIFETIME_S = 3600n;
const DELIVERIES_AT_ONCE = 20;

/** Polls the due deliveries to a chain. Returns true if there may be more. */
export function pollDeliveries(deps: DeliveryDeps, destChain: number): Promise<boolean> {
  return workOnDue(deps, {
    rows: store.dueDeliveries,
    chainId: destChain,
    leaseMs: LEASE_MS.delivery,
    limit: DELIVERIES_AT_ONCE,
    work: (id) => lookSafely(deps, id),
  });
}

function lookSafely(deps: DeliveryDeps, id: Hex32): Promise<void> {
  const { db, clock, log } = deps;
  return workAndRecordError({
    read: () => store.getDelivery(db, id),
    work: () => advanceDelivery(deps, id),
    writeError: (delivery, error) => writeError(deps, delivery, error),
    showsErrors: ({ state }) => state === "locked" || state === "returning",
    report: (thrown, { code }) =>
      log.error({ err: thrown, deliveryId: id, code }, "delivery failed, retrying"),
    retryLater: () => store.dueDeliveries.reschedule(db, id, clock.now() + ERROR_RETRY_MS),
  });
}

async function advanceDelivery(deps: DeliveryDeps, id: Hex32): Promise<void> {
  const delivery = await store.getDelivery(deps.db, id);
  assert(delivery !== null, "a due delivery exists");
  const address = await deps.readAddress(delivery.settlementId);
  switch (delivery.state) {
    case "locked":
      return advanceLocked(deps, delivery, address);
    case "delivered":
      return advanceDelivered(deps, delivery, address);
    case "claiming":
      return advanceClaiming(deps, delivery);
    case "returning":
      return advanceReturning(deps, delivery);
    case "claimed":
    case "returned":
    case "taken_back":
      return;
    default:
      return assertNever(delivery.state);
  }
}

async function advanceLocked(
  deps: DeliveryDeps,
  delivery: Delivery,
  address: DepositAddress,
): Promise<void> {
  const destination = chainOf(deps, delivery.destChain);
  const found = await findDelivery(deps, delivery);
  if (found) return recordDelivered(deps, delivery, found);

  const attestationId: AttestationId = `delivery:${delivery.id}:${delivery.orders}`;
  const attestation = delivery.orders > 0 ? await getAttestation(deps.db, attestationId) : null;
  if (!attestation || isPast(deps, attestation.deadline)) {
    return requestOrder(deps, delivery, address);
  }
  assertNotRefused(attestation, "The attestor refused to sign the payout.");
  if (attestation.signature === null) return poll(deps, delivery);

  const intent: IntentName = `deliver:${delivery.id}:${delivery.orders}`;
  const sent = await getByIntent(deps.db, intent);
  const failure = failureOf(sent);
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
  if (sent) return poll(deps, delivery);

  const order = payoutOf(delivery, address, attestation.deadline);
  return plan(deps, delivery, {
    chain: destination,
    lanes: lanesOf(deps, delivery.destChain).deliver,
    intent,
    call: destination.buildDeliver(order, attestation.signature),
    what: "The delivery",
    record: (tx) => store.updateDelivery(tx, delivery, {}),
  });
}

/** Finds the payout on the destination chain. Passes our own transaction as a hint, so that a long history cannot hide it. */
async function findDelivery(
  deps: DeliveryDeps,
  { id, settlementId, destChain }: Delivery,
): Promise<FoundDelivery | null> {
  const hints = await listMinedHashes(deps.db, settlementId);
  return chainOf(deps, destChain).findDelivery(id, "latest", hints);
}

/** Reads the delivery's lock on the source chain, with hints as above. */
async function getLock(
  deps: DeliveryDeps,
  { id, settlementId, srcChain }: Delivery,
  at: ReadAt,
): Promise<Lock | null> {
  const hints = await listMinedHashes(deps.db, settlementId);
  return chainOf(deps, srcChain).getLock(id, at, hints);
}

/** Requests the next payout signature, in the transaction that counts it. */
async function requestOrder(
  deps: DeliveryDeps,
  delivery: Delivery,
  address: DepositAddress,
): Promise<void> {
  const lock = await getLock(deps, delivery, "final");
  if (!lock) return poll(deps, delivery);
  if (lock.state === "returned" || lock.state === "taken_back") {
    return recordGivenBack(deps, delivery, lock.state);
  }
  const latest = lock.lockedAt + deps.payoutWindowS;
  if (nowSeconds(deps) >= latest) return giveBack(deps, delivery, address);
  const wished = nowSeconds(deps) + ORDER_LIFETIME_S;
  const deadline = wished < latest ? wished : latest;
  const number = delivery.orders + 1;
  const hints = await listMinedHashes(deps.db, delivery.settlementId);
  await deps.db.transaction().execute(async (tx) => {
    if (!(await store.updateDelivery(tx, delivery, { orders: number }))) return;
    await insertAttestation(tx, {
      id: `delivery:${delivery.id}:${number}`,
      deliveryId: delivery.id,
      deadline,
      request: { kind: "delivery", order: payoutOf(delivery, address, deadline), hints },
      nowMs: deps.clock.now(),
    });
  });
  deps.wakeAttestor();
  return poll(deps, delivery);
}

/** Records a payout that the service's own reader saw, once it has the configured confirmations. */
async function recordDelivered(
  deps: DeliveryDeps,
  delivery: Delivery,
  found: FoundDelivery,
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
  await deps.db.transaction().execute(async (tx) => {
    const change = { deliveredTxHash: found.txHash, deliveredAmount: found.amount, trouble: null };
    if (!(await move(tx, delivery, "delivered", change))) return;
    await store.deleteReservation(tx, delivery.settlementId);
    await deps.onChanged(tx, delivery.settlementId);
  });
  deps.wakeSettlements();
  deps.log.info({ deliveryId: delivery.id, txHash: found.txHash }, "delivered");
  return poll(deps, delivery);
}

async function advanceDelivered(
  deps: DeliveryDeps,
  delivery: Delivery,
  address: DepositAddress,
): Promise<void> {
  const destination = chainOf(deps, delivery.destChain);
  const source = chainOf(deps, delivery.srcChain);
  if ((await findDelivery(deps, delivery)) === null) return reopen(deps, delivery);
  if (!(await destination.isDelivered(delivery.id, "final"))) return poll(deps, delivery);
  const lock = await getLock(deps, delivery, "latest");
  if (lock?.state === "claimed") {
    // Claimed by an earlier transaction or another relayer: only its finality is missing.
    await deps.db.transaction().execute((tx) => move(tx, delivery, "claiming", { trouble: null }));
    return poll(deps, delivery);
  }

  const attestationId: AttestationId = `claim:${delivery.id}:${delivery.claims}`;
  const attestation = delivery.claims > 0 ? await getAttestation(deps.db, attestationId) : null;
  const intent: IntentName = `claim:${delivery.id}:${delivery.claims}`;
  const sent = delivery.claims > 0 ? await getByIntent(deps.db, intent) : null;
  if (!attestation || isPast(deps, attestation.deadline) || failureOf(sent)) {
    return requestClaim(deps, delivery, address);
  }
  assertNotRefused(attestation, "The attestor refused to sign the claim.");
  if (attestation.signature === null) return poll(deps, delivery);

  const order = claimOf(delivery, attestation.deadline);
  const { signature } = attestation;
  return planEnding(deps, delivery, {
    lock,
    intent,
    previous: `claim:${delivery.id}:${delivery.claims - 1}`,
    buildCall: (ending) =>
      source.buildClaim(order, signature, { ...openLockOf(delivery, address), ...ending }),
    what: "The claim",
    record: (tx) => move(tx, delivery, "claiming", { trouble: null }),
  });
}

/** Returns the escrow lock of a delivery. */
function openLockOf(
  { token, seq, lockedAmount: amount }: Delivery,
  { commitment }: DepositAddress,
) {
  return { commitment, token, seq, amount };
}

/**
 * Plans the transaction that ends a lock. Where anybody can add to a lock's account, a third party can make this fail
 * repeatedly: after the first failure it uses the form that nobody can block.
 */
async function planEnding(
  deps: DeliveryDeps,
  delivery: Delivery,
  args: Pick<PlanArgs, "intent" | "what" | "record"> & {
    readonly lock: Lock | null;
    /** The previous transaction for this purpose, if any. */
    readonly previous: IntentName;
    readonly buildCall: (ending: Pick<OpenLock, "held" | "whole">) => Call;
  },
): Promise<void> {
  const { lock, previous, buildCall, ...rest } = args;
  const chain = chainOf(deps, delivery.srcChain);
  const lanes = lanesOf(deps, delivery.srcChain).claim;
  const planBy = (ending: Pick<OpenLock, "held" | "whole">) =>
    plan(deps, delivery, { ...rest, chain, lanes, call: buildCall(ending) });
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

interface PlanArgs {
  readonly chain: Chain;
  readonly lanes: readonly Address[];
  readonly intent: IntentName;
  readonly call: Call;
  readonly what: string;
  /** Returns false if the delivery changed meanwhile: then nothing is queued. */
  readonly record: (tx: Tx) => Promise<boolean>;
}

/** Simulates a call and queues it, in the transaction that records it. */
async function plan(deps: DeliveryDeps, delivery: Delivery, args: PlanArgs): Promise<void> {
  const { chain, lanes, intent, call, what } = args;
  const { lane, gas } = await planCall({ db: deps.db, chain }, { lanes, call, what });
  await deps.db.transaction().execute(async (tx) => {
    if (!(await args.record(tx))) return;
    const { settlementId } = delivery;
    const { chainId } = chain;
    await submitIntent(tx, deps.random, { chainId, lane, intent, settlementId, call, gas });
  });
  deps.wakeLanes();
  return poll(deps, delivery);
}

async function requestClaim(
  deps: DeliveryDeps,
  delivery: Delivery,
  address: DepositAddress,
): Promise<void> {
  const number = delivery.claims + 1;
  const hints = await listMinedHashes(deps.db, delivery.settlementId);
  const deadline = nowSeconds(deps) + ORDER_LIFETIME_S;
  await deps.db.transaction().execute(async (tx) => {
    if (!(await store.updateDelivery(tx, delivery, { claims: number }))) return;
    await insertAttestation(tx, {
      id: `claim:${delivery.id}:${number}`,
      deliveryId: delivery.id,
      deadline,
      request: {
        kind: "claim",
        srcChain: delivery.srcChain,
        commitment: address.commitment,
        claim: claimOf(delivery, deadline),
        hints,
      },
      nowMs: deps.clock.now(),
    });
  });
  deps.wakeAttestor();
  return poll(deps, delivery);
}

async function advanceClaiming(deps: DeliveryDeps, delivery: Delivery): Promise<void> {
  const lock = await getLock(deps, delivery, "final");
  const sent = await getByIntent(deps.db, `claim:${delivery.id}:${delivery.claims}`);
  if (lock?.state === "claimed") {
    await deps.db.transaction().execute(async (tx) => {
      const claimedTxHash = sent?.mined?.succeeded ? sent.mined.txHash : undefined;
      await move(tx, delivery, "claimed", claimedTxHash ? { claimedTxHash } : {});
    });
    deps.log.info({ deliveryId: delivery.id }, "claimed");
    return;
  }
  if (failureOf(sent)) {
    deps.log.warn({ deliveryId: delivery.id }, "claim reverted, planning another");
    await deps.db.transaction().execute(async (tx) => {
      await move(tx, delivery, "delivered", {});
    });
  }
  return poll(deps, delivery);
}

/** Returns a lock whose payout is too late to its deposit address, where it settles again. */
async function giveBack(
  deps: DeliveryDeps,
  delivery: Delivery,
  address: DepositAddress,
): Promise<void> {
  const attestationId: AttestationId = `return:${delivery.id}:${delivery.returns}`;
  const attestation = delivery.returns > 0 ? await getAttestation(deps.db, attestationId) : null;
  const intent: IntentName = `return:${delivery.id}:${delivery.returns}`;
  const sent = delivery.returns > 0 ? await getByIntent(deps.db, intent) : null;
  if (!attestation || isPast(deps, attestation.deadline) || failureOf(sent)) {
    return requestReturn(deps, delivery, address);
  }
  assertNotRefused(attestation, "The attestor refused to sign the return.");
  if (attestation.signature === null) return poll(deps, delivery);
  const source = chainOf(deps, delivery.srcChain);
  const order = { deliveryId: delivery.id, deadline: attestation.deadline };
  const lock = await getLock(deps, delivery, "latest");
  const { signature } = attestation;
  return planEnding(deps, delivery, {
    lock,
    intent,
    previous: `return:${delivery.id}:${delivery.returns - 1}`,
    buildCall: (ending) =>
      source.buildReturn(order, signature, { ...openLockOf(delivery, address), ...ending }),
    what: "The return",
    record: (tx) => move(tx, delivery, "returning", {}),
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
  await deps.db.transaction().execute(async (tx) => {
    if (!(await store.updateDelivery(tx, delivery, { returns: number }))) return;
    await insertAttestation(tx, {
      id: `return:${deliveryId}:${number}`,
      deliveryId,
      deadline,
      request: { kind: "return", srcChain, commitment, order: { deliveryId, deadline }, hints },
      nowMs: deps.clock.now(),
    });
  });
  deps.wakeAttestor();
  deps.log.warn({ deliveryId }, "payout window passed, returning the lock");
  return poll(deps, delivery);
}

async function advanceReturning(deps: DeliveryDeps, delivery: Delivery): Promise<void> {
  const lock = await getLock(deps, delivery, "final");
  if (lock?.state === "returned" || lock?.state === "taken_back") {
    return recordGivenBack(deps, delivery, lock.state);
  }
  const sent = await getByIntent(deps.db, `return:${delivery.id}:${delivery.returns}`);
  if (failureOf(sent)) {
    deps.log.warn({ deliveryId: delivery.id }, "return reverted, planning another");
    await deps.db.transaction().execute((tx) => move(tx, delivery, "locked", {}));
  }
  return poll(deps, delivery);
}

/** Records that the lock ended unpaid at a final block, and releases its reservation. */
async function recordGivenBack(
  deps: DeliveryDeps,
  delivery: Delivery,
  state: "returned" | "taken_back",
): Promise<void> {
  await deps.db.transaction().execute(async (tx) => {
    if (!(await move(tx, delivery, state, {}))) return;
    await store.deleteReservation(tx, delivery.settlementId);
    await deps.onGivenBack(tx, delivery.settlementId);
  });
  deps.wakeSettlements();
  deps.log.warn({ deliveryId: delivery.id, state }, "lock returned or taken back");
}

/** The payout's block was orphaned: the lane rebroadcasts, and the payout is looked up again. */
async function reopen(deps: DeliveryDeps, delivery: Delivery): Promise<void> {
  deps.log.warn({ deliveryId: delivery.id }, "reorg: payout orphaned");
  await deps.db.transaction().execute(async (tx) => {
    const change = { deliveredTxHash: null, deliveredAmount: null };
    if (!(await move(tx, delivery, "locked", change))) return;
    await store.upsertReservation(tx, {
      settlementId: delivery.settlementId,
      destChain: delivery.destChain,
      token: delivery.destToken,
      amount: delivery.payAmount,
    });
  });
  return poll(deps, delivery);
}

async function move(
  tx: Tx,
  delivery: Delivery,
  state: DeliveryState,
  change: Omit<Parameters<typeof store.updateDelivery>[2], "state">,
): Promise<boolean> {
  assert(mayMove(delivery.state, state), `a delivery may go from ${delivery.state} to ${state}`);
  return store.updateDelivery(tx, delivery, { ...change, state });
}

async function writeError(
  deps: DeliveryDeps,
  delivery: Delivery,
  error: ErrorObject | null,
): Promise<void> {
  await deps.db.transaction().execute(async (tx) => {
    if (!(await store.updateDelivery(tx, delivery, { trouble: error }))) return;
    await deps.onChanged(tx, delivery.settlementId);
  });
}

/** Throws INTERNAL if the attestor refused to sign. */
function assertNotRefused({ refusal }: Attestation, message: string): void {
  if (refusal === null) return;
  throw new OperatingError("INTERNAL", message, { details: { reason: refusal } });
}

function payoutOf(delivery: Delivery, address: DepositAddress, deadline: bigint): Payout {
  return {
    commitment: address.commitment,
    srcChain: delivery.srcChain,
    escrow: delivery.escrow,
    srcToken: delivery.token,
    seq: delivery.seq,
    amount: delivery.payAmount,
    deadline,
  };
}

function claimOf(delivery: Delivery, deadline: bigint) {
  assert(delivery.deliveredAmount !== null, "only a recorded delivery is claimed");
  return { deliveryId: delivery.id, paidAmount: delivery.deliveredAmount, deadline };
}

async function poll(deps: DeliveryDeps, delivery: Delivery): Promise<void> {
  await store.dueDeliveries.reschedule(deps.db, delivery.id, deps.clock.now() + deps.pollMs);
}

function chainOf({ chains }: DeliveryDeps, chainId: number): Chain {
  return getConfigured(chains, chainId, "The chain of a delivery is not configured.");
}

function lanesOf({ lanes }: DeliveryDeps, chainId: number) {
  return getConfigured(lanes, chainId, "The chain of a delivery has no lanes.");
}

function nowSeconds(deps: DeliveryDeps): bigint {
  return BigInt(Math.floor(deps.clock.now() / 1000));
}

function isPast(deps: DeliveryDeps, deadline: bigint): boolean {
  return nowSeconds(deps) >= deadline;
}
