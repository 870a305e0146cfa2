/**
 * The attestor's worker. It reads the chains with its own nodes and signs only facts of final blocks. Rows in the database
 * are requests, never evidence.
 */
import type { Chain, Chains, Lock } from "../../chains/port/index.ts";
import { assertNever } from "../../core/assert.ts";
import type { Commitment } from "../../core/commitment.ts";
import { OperatingError } from "../../core/errors.ts";
import { type Address, padAddress, type Hex, type Hex32 } from "../../core/hex.ts";
import type { Clock, CrashPoint } from "../../core/ports.ts";
import type { Db } from "../../db/schema.ts";
import { isHalted } from "../../ledger/index.ts";
import { valueOf } from "../../signers/payout-policy.ts";
import type { AttestorSigner } from "../../signers/port.ts";
import { JUDGE_RETRY_MS, PROOF_RETRY_MS } from "../../jobs/delays.ts";
import type { Log } from "../../telemetry/log.ts";
import type { Metrics } from "../../telemetry/metrics.ts";
import type { Pair } from "../port.ts";
import {
  answerAttestation,
  getLastSignedDeadline,
  listOpenRequests,
  type OpenRequest,
  rescheduleRequest,
} from "./attestations.ts";
import { type AttestationRequest, parseRequest } from "./attestation-requests.ts";

export interface AttestorDeps {
  readonly db: Db;
  /** The attestor's own readers. */
  readonly chains: Chains;
  readonly signer: AttestorSigner;
  readonly clock: Clock;
  readonly crashPoint: CrashPoint;
  readonly log: Log;
  readonly metrics: Metrics;
  /** Seconds after its lock in which a payout may be used. */
  readonly payoutWindowS: bigint;
  /** Pairs that the attestor signs for. */
  readonly pairs: readonly AttestedPair[];
  /** Tells the settler that a request was answered. */
  readonly wakeSettler: () => void;
}

/** A pair from the attestor's own configuration. */
export interface AttestedPair extends Pair {
  readonly decimalsIn: number;
  readonly decimalsOut: number;
  /** The route's contract on the source chain. */
  readonly contract: Address;
  /** Whether the pair is paid from inventory. Payouts are signed for no other pair. */
  readonly fromInventory: boolean;
  /** The attestor's own rate for pairs of different assets; null for the same asset. Throws PRICE_UNAVAILABLE. */
  readonly readRate: (() => Promise<bigint>) | null;
}

/** Longest lifetime of a price that the contract accepts, in seconds. */
const PRICE_LIFETIME_MAX_S = 120n;
const REQUESTS_AT_ONCE = 20;

type Verdict =
  | { readonly kind: "sign"; readonly signature: Hex; readonly rate?: bigint }
  | { readonly kind: "refuse"; readonly reason: string }
  /** Not provable yet: the final block is too old. */
  | { readonly kind: "wait" };

/** Answers the requests that can be answered. Returns true if there may be more at once. */
export async function pollAttestationRequests(deps: AttestorDeps): Promise<boolean> {
  const open = await listOpenRequests(deps.db, {
    nowMs: deps.clock.now(),
    limit: REQUESTS_AT_ONCE,
  });
  // In parallel, so that a request whose chain is slow, which a third party can provoke, does not delay the others.
  const looks = await Promise.allSettled(open.map((request) => answerRequest(deps, request)));
  for (const look of looks) if (look.status === "rejected") throw look.reason;
  return open.length === REQUESTS_AT_ONCE;
}

async function answerRequest(
  deps: AttestorDeps,
  { id, kind, deliveryId, row }: OpenRequest,
): Promise<void> {
  const { db, clock, log, signer } = deps;
  let verdict: Verdict;
  try {
    verdict = await judgeUnlessHalted(deps, deliveryId, parseRequest(row));
  } catch (error) {
    log.warn({ err: error, attestation: id }, "attestation request failed, retrying");
    return rescheduleRequest(db, id, clock.now() + JUDGE_RETRY_MS);
  }
  if (verdict.kind === "wait") return rescheduleRequest(db, id, clock.now() + PROOF_RETRY_MS);
  deps.crashPoint("attest.judged");
  const signature = verdict.kind === "sign" ? verdict.signature : null;
  const refusal = verdict.kind === "refuse" ? verdict.reason : null;
  if (refusal) log.error({ attestation: id, refusal }, "attestation refused");
  const rate = verdict.kind === "sign" ? verdict.rate : undefined;
  await answerAttestation(db, id, {
    ...(rate === undefined ? {} : { rate }),
    signer: signer.address,
    nowMs: clock.now(),
    signature,
    refusal,
  });
  deps.crashPoint("attest.answered");
  const counter = signature ? deps.metrics.attestationsSigned : deps.metrics.attestationsRefused;
  counter.inc({ kind });
  deps.wakeSettler();
}

/** Signs nothing while the ledger of either chain has a breach. */
async function judgeUnlessHalted(
  deps: AttestorDeps,
  deliveryId: Hex32,
  request: AttestationRequest,
): Promise<Verdict> {
  const srcChain = request.kind === "delivery" ? request.order.srcChain : request.srcChain;
  const { commitment } = request.kind === "delivery" ? request.order : request;
  for (const chainId of [srcChain, commitment.destChain]) {
    if (await isHalted(deps.db, chainId)) return { kind: "wait" };
  }
  return judge(deps, deliveryId, request);
}

async function judge(
  deps: AttestorDeps,
  deliveryId: Hex32,
  request: AttestationRequest,
): Promise<Verdict> {
  switch (request.kind) {
    case "delivery":
      return judgeOrder(deps, deliveryId, request);
    case "claim":
      return judgeClaim(deps, deliveryId, request);
    case "return":
      return judgeReturn(deps, deliveryId, request);
    case "price":
      return judgePrice(deps, request);
    default:
      return assertNever(request);
  }
}

/** Signs a payout if the escrow holds the lock at a final block, for this destination, and it is unpaid. */
async function judgeOrder(
  deps: AttestorDeps,
  deliveryId: Hex32,
  { order, hints }: AttestationRequest & { readonly kind: "delivery" },
): Promise<Verdict> {
  const { commitment } = order;
  const source = deps.chains.get(order.srcChain);
  const destination = deps.chains.get(commitment.destChain);
  if (!source || !destination) return refuse("unknown_chain");
  if (order.escrow !== source.addresses.escrow) return refuse("unknown_escrow");
  if (destination.deliveryIdOfPayout(order) !== deliveryId) return refuse("other_delivery_id");
  const pair = deps.pairs.find(
    (known) =>
      known.fromInventory &&
      known.srcChain === order.srcChain &&
      known.srcToken === order.srcToken &&
      known.destChain === commitment.destChain &&
      padAddress(known.destToken) === commitment.destToken,
  );
  if (!pair) return refuse("unknown_pair");

  const lock = await source.getLock(deliveryId, "final", hints);
  if (!lock) return { kind: "wait" };
  if (lock.state !== "locked") return refuse(`already_${lock.state}`);
  if (!isLockOf(source, destination, lock, commitment)) return refuse("other_lock");
  if (order.amount < lock.minOut) return refuse("below_promised_minimum");
  const terms = { ...pair, isPriced: pair.readRate !== null };
  if (order.amount > valueOf(terms, lock, commitment)) return refuse("above_locked_value");
  if (order.deadline > lock.lockedAt + deps.payoutWindowS) return refuse("deadline_too_late");
  // Otherwise a removal could keep the operator from claiming the lock, and the depositor would take it back.
  const self = { role: "attestor", account: deps.signer.address, time: lock.lockedAt } as const;
  if (!(await source.wasListed(self, "final"))) return refuse("attestor_not_listed");
  if (await destination.isDelivered(deliveryId, "latest")) return refuse("already_delivered");
  return { kind: "sign", signature: await deps.signer.signDelivery(commitment.destChain, order) };
}

/** Signs the attestor's own price, for the commitment's wallet and a route of its own configuration. */
async function judgePrice(
  deps: AttestorDeps,
  request: AttestationRequest & { readonly kind: "price" },
): Promise<Verdict> {
  const { srcChain, commitment, token, route, maxAmount, deadline } = request;
  const source = deps.chains.get(srcChain);
  if (!source) return refuse("unknown_chain");
  const pair = deps.pairs.find(
    (known) =>
      known.contract === route &&
      known.srcChain === srcChain &&
      known.srcToken === token &&
      known.destChain === commitment.destChain &&
      padAddress(known.destToken) === commitment.destToken,
  );
  if (!pair?.readRate) return refuse("unknown_pair");
  const nowS = BigInt(Math.floor(deps.clock.now() / 1000));
  if (deadline > nowS + PRICE_LIFETIME_MAX_S) return refuse("deadline_too_late");
  let rate: bigint;
  try {
    rate = await pair.readRate();
  } catch (error) {
    if (error instanceof OperatingError && error.code === "PRICE_UNAVAILABLE") {
      return refuse("price_unavailable");
    }
    throw error;
  }
  const wallet = source.predictWallet(commitment);
  const order = { wallet, token, route, rate, maxAmount, deadline };
  return { kind: "sign", rate, signature: await deps.signer.signPrice(srcChain, order) };
}

/** Signs a claim if the payout of exactly this lock is in a final block of the destination. */
async function judgeClaim(
  deps: AttestorDeps,
  deliveryId: Hex32,
  request: AttestationRequest & { readonly kind: "claim" },
): Promise<Verdict> {
  const { commitment, claim, hints } = request;
  const source = deps.chains.get(request.srcChain);
  const destination = deps.chains.get(commitment.destChain);
  if (!source || !destination) return refuse("unknown_chain");
  if (claim.deliveryId !== deliveryId) return refuse("other_delivery_id");
  const lock = await source.getLock(deliveryId, "final", hints);
  if (!lock) return { kind: "wait" };
  if (lock.state !== "locked") return refuse(`already_${lock.state}`);
  if (!isLockOf(source, destination, lock, commitment)) return refuse("other_lock");
  if (!(await destination.isDelivered(deliveryId, "final"))) return { kind: "wait" };
  const found = await destination.findDelivery(deliveryId, "latest", hints);
  if (!found || found.blockNumber > (await destination.getFinalNumber())) return { kind: "wait" };
  if (
    padAddress(found.to) !== commitment.destWallet ||
    padAddress(found.token) !== commitment.destToken ||
    found.amount !== claim.paidAmount ||
    found.amount < lock.minOut
  ) {
    return refuse("other_payment");
  }
  return { kind: "sign", signature: await deps.signer.signClaim(request.srcChain, claim) };
}

/**
 * Signs a return if the delivery is unpaid at a final block of the destination that is later than every possible payout
 * deadline. The contract refuses payouts from then on, so the delivery can never be paid.
 */
async function judgeReturn(
  deps: AttestorDeps,
  deliveryId: Hex32,
  request: AttestationRequest & { readonly kind: "return" },
): Promise<Verdict> {
  const { commitment, order, srcChain, hints } = request;
  const source = deps.chains.get(srcChain);
  const destination = deps.chains.get(commitment.destChain);
  if (!source || !destination) return refuse("unknown_chain");
  if (order.deliveryId !== deliveryId) return refuse("other_delivery_id");
  const lock = await source.getLock(deliveryId, "final", hints);
  if (!lock) return { kind: "wait" };
  if (lock.state !== "locked") return refuse(`already_${lock.state}`);
  if (!isLockOf(source, destination, lock, commitment)) return refuse("other_lock");
  // The window bounds payouts signed under this setting; the record bounds those signed under a longer one.
  const windowEnd = lock.lockedAt + deps.payoutWindowS;
  const signed = (await getLastSignedDeadline(deps.db, deliveryId)) ?? 0n;
  const last = signed > windowEnd ? signed : windowEnd;
  // The time is read first: a later final block can only contain more payouts.
  if (!(await destination.isOrderOver(last))) return { kind: "wait" };
  if (await destination.isDelivered(deliveryId, "final")) return refuse("already_delivered");
  return { kind: "sign", signature: await deps.signer.signReturn(srcChain, order) };
}

function isLockOf(source: Chain, destination: Chain, lock: Lock, commitment: Commitment): boolean {
  return (
    source.isLockOf(lock, commitment) &&
    lock.destChain === commitment.destChain &&
    lock.delivery === padAddress(destination.addresses.delivery)
  );
}

function refuse(reason: string): Verdict {
  return { kind: "refuse", reason };
}
