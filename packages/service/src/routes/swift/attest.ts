/**
 * The attestor's worker. It reads the chains with its own nodes and signs only facts of final blocks. Rows in the database
 * are requests, never evidence.
 */
import type { Chain, Chains, Lock, LockFacts, PaidLock, Payout } from "../../chains/port/index.ts";
import { assertNever } from "../../core/assert.ts";
import type { Commitment } from "../../core/commitment.ts";
import { OperatingError } from "../../core/errors.ts";
import { type Address, type Hex, type Hex32, padAddress, type TxHash } from "../../core/hex.ts";
import type { Clock, CrashPoint } from "../../core/ports.ts";
import type { Db } from "../../db/schema.ts";
import { readHalt } from "../../ledger/index.ts";
import { valueOf } from "../../signers/payout-policy.ts";
import type { AttestorSigner } from "../../signers/port.ts";
import { SignerWaits } from "../../signers/refusal.ts";
import { JUDGE_RETRY_MS, PROOF_RETRY_MS } from "../../jobs/delays.ts";
import type { Log } from "../../telemetry/log.ts";
import type { Metrics } from "../../telemetry/metrics.ts";
import type { Pair } from "../port.ts";
import {
  answerAttestation,
  listOpenRequests,
  type OpenRequest,
  rescheduleRequest,
} from "./attestations.ts";
import {
  ATTESTATION_KINDS,
  type AttestationKind,
  type AttestationRequest,
  parseRequest,
  type RequestedLock,
} from "./attestation-requests.ts";
import { findPayable } from "./early/find-payable.ts";
import type { EarlyRulesByChain } from "./early/rules.ts";
import { inSpan, keepSpan } from "../../telemetry/spans.ts";
import { judgeRefundProof, type RefundTerms } from "./judge-refund.ts";
import { boundsAround } from "./pricing.ts";

export interface AttestorDeps {
  readonly db: Db;
  /** The attestor's own readers. */
  readonly chains: Chains;
  readonly signer: AttestorSigner;
  readonly clock: Clock;
  readonly crashPoint: CrashPoint;
  readonly log: Log;
  readonly metrics: Metrics;
  /** Attestors that sign each message. */
  readonly threshold: number;
  /** The most by which a requested rate may differ from the attestor's own, in basis points. */
  readonly rateToleranceBps: number;
  /** Pairs that the attestor signs for. */
  readonly pairs: readonly AttestedPair[];
  /** The attestor's own terms of refunds; without them it signs none. */
  readonly refunds?: RefundTerms;
  /** The attestor's own rules of payouts before finality, and whether those of a chain wait; without them it signs none. */
  readonly early?:
    | { readonly rules: EarlyRulesByChain; readonly isClosed: (srcChain: number) => boolean }
    | undefined;
  /** Tells the settler that a request of a delivery, or of something else that is attested, was answered. */
  readonly wakeSettler: (subject: Hex32) => void;
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
const REQUESTS_AT_ONCE = 60;

type Verdict =
  | { readonly kind: "sign"; readonly signature: Hex }
  | { readonly kind: "refuse"; readonly reason: string }
  /** Not provable yet: the final block is too old. */
  | { readonly kind: "wait" };

/** Answers the requests of some kinds that can be answered. Returns true if there may be more at once. */
export async function pollAttestationRequests(
  deps: AttestorDeps,
  kinds: readonly AttestationKind[] = ATTESTATION_KINDS,
): Promise<boolean> {
  const open = await listOpenRequests(deps.db, {
    attestor: deps.signer.address,
    kinds,
    nowMs: deps.clock.now(),
    limit: REQUESTS_AT_ONCE,
  });
  // In parallel, so that a request whose chain is slow, which a third party can provoke, does not delay the others.
  const looks = await Promise.allSettled(
    open.map((request) => {
      const { id, kind, deliveryId } = request;
      // An attestor reads no settlements.
      const subject = { settlementId: null, attestationId: id, kind, deliveryId };
      return inSpan("attestation", subject, () => answerRequest(deps, request));
    }),
  );
  for (const look of looks) if (look.status === "rejected") throw look.reason;
  return open.length === REQUESTS_AT_ONCE;
}

async function answerRequest(
  deps: AttestorDeps,
  { id, kind, deliveryId, row }: OpenRequest,
): Promise<void> {
  const { db, clock, log } = deps;
  const attestor = deps.signer.address;
  let verdict: Verdict;
  try {
    verdict = await judgeUnlessHalted(deps, deliveryId, parseRequest(row));
  } catch (error) {
    log.warn({ err: error, attestation: id }, "attestation request failed, retrying");
    return rescheduleRequest(db, id, { attestor, atMs: clock.now() + JUDGE_RETRY_MS });
  }
  if (verdict.kind === "wait") {
    return rescheduleRequest(db, id, { attestor, atMs: clock.now() + PROOF_RETRY_MS });
  }
  deps.crashPoint("attest.judged");
  const signature = verdict.kind === "sign" ? verdict.signature : null;
  const refusal = verdict.kind === "refuse" ? verdict.reason : null;
  if (refusal) log.error({ attestation: id, refusal }, "attestation refused");
  await answerAttestation(db, { id, attestor, nowMs: clock.now(), signature, refusal });
  deps.crashPoint("attest.answered");
  keepSpan();
  const counter = signature ? deps.metrics.attestationsSigned : deps.metrics.attestationsRefused;
  counter.inc({ kind });
  deps.wakeSettler(deliveryId);
}

/** Signs nothing while either chain is halted, except claims where the breach leaves them safe. */
async function judgeUnlessHalted(
  deps: AttestorDeps,
  deliveryId: Hex32,
  request: AttestationRequest,
): Promise<Verdict> {
  for (const chainId of chainsOf(request)) {
    const halt = await readHalt(deps.db, chainId);
    const maySign = halt === "none" || (halt === "except_claims" && request.kind === "claim");
    if (!maySign) return { kind: "wait" };
  }
  return judge(deps, deliveryId, request);
}

/** Returns the chains whose facts an attestation states. A refund says nothing about its destination. */
function chainsOf(request: AttestationRequest): readonly number[] {
  if (request.kind === "refund") return [request.srcChain];
  const { srcChain } = request.kind === "delivery" ? request.order : request;
  const { commitment } = request.kind === "delivery" ? request.order : request;
  return [srcChain, commitment.destChain];
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
    case "refund":
      return judgeRefund(deps, deliveryId, request);
    default:
      return assertNever(request);
  }
}

/**
 * Signs a payout if the escrow holds the lock, for this destination, and it is unpaid; and only for a window that starts no
 * later than the lock. The lock is in a final block, or deep enough for an early payout: then the window starts no later than
 * a final block without it, and the signer counts the value at risk.
 */
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

  const { early } = deps;
  const payable = await findPayable(source, lockOf(destination, order), {
    hints,
    rules: early?.isClosed(order.srcChain) === false ? early.rules.get(order.srcChain) : undefined,
    paid: { destChain: commitment.destChain, token: pair.destToken, amount: order.amount },
  });
  if (!payable) return { kind: "wait" };
  const { lock, windowStart, worth } = payable;
  if (lock.state !== "locked") return refuse(`already_${lock.state}`);
  // A return waits for the end of the window of the lock's own time. No payout may be possible after it.
  if (order.windowStart > windowStart) {
    // The settler's nodes have a newer final block.
    return worth === null ? refuse("window_starts_after_lock") : { kind: "wait" };
  }
  if (order.amount < lock.minOut) return refuse("below_promised_minimum");
  const terms = { ...pair, isPriced: pair.readRate !== null };
  if (order.amount > valueOf(terms, lock, commitment)) return refuse("above_locked_value");
  // Otherwise a removal could keep the operator from claiming the lock, and the depositor would take it back.
  const self = { role: "attestor", account: deps.signer.address, time: lock.lockedAt } as const;
  const at = worth === null ? "final" : "latest";
  if (!(await source.wasListed(self, at))) return refuse("attestor_not_listed");
  // The signers of the payout must suffice for the claim, also if some are removed meanwhile.
  const needed = await source.getThresholdAt(lock.lockedAt, at);
  if (needed > deps.threshold) return refuse("threshold_too_low");
  const { srcChain, escrow } = order;
  const paid = { deliveryId, srcChain, escrow, seq: lock.seq };
  if (await destination.isDelivered(paid, "latest")) return refuse("already_delivered");
  try {
    const signature = await deps.signer.signDelivery(
      commitment.destChain,
      order,
      worth ?? undefined,
    );
    return { kind: "sign", signature };
  } catch (error) {
    // The exposure is used up: a lock becomes final first, this one at the latest.
    if (worth !== null && error instanceof SignerWaits) return { kind: "wait" };
    throw error;
  }
}

/** Signs a price that is close to the attestor's own, for the commitment's wallet and a route of its own configuration. */
async function judgePrice(
  deps: AttestorDeps,
  request: AttestationRequest & { readonly kind: "price" },
): Promise<Verdict> {
  const { srcChain, commitment, token, route, rate, maxAmount, deadline } = request;
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
  let own: bigint;
  try {
    own = await pair.readRate();
  } catch (error) {
    if (error instanceof OperatingError && error.code === "PRICE_UNAVAILABLE") {
      return refuse("price_unavailable");
    }
    throw error;
  }
  const bounds = boundsAround(own, deps.rateToleranceBps);
  if (rate < bounds.min || rate > bounds.max) return refuse("rates_differ");
  const wallet = source.predictWallet(commitment);
  const order = { wallet, token, route, rate, maxAmount, deadline };
  return { kind: "sign", signature: await deps.signer.signPrice(srcChain, order) };
}

/** Signs a refund that the attestor's own policy allows, over facts of its own readers. */
async function judgeRefund(
  deps: AttestorDeps,
  commitmentHash: Hex32,
  { srcChain, proof }: AttestationRequest & { readonly kind: "refund" },
): Promise<Verdict> {
  const chain = deps.chains.get(srcChain);
  if (!chain) return refuse("unknown_chain");
  if (!deps.refunds) return refuse("not_allowed");
  if (chain.hashCommitment(proof.commitment) !== commitmentHash) return refuse("other_commitment");
  const nowS = BigInt(Math.floor(deps.clock.now() / 1000));
  const { pairs, refunds: terms } = deps;
  const verdict = await judgeRefundProof({ chain, pairs, terms, nowS }, proof);
  if (verdict.kind === "refuse") return refuse(verdict.reason);
  if (verdict.kind === "wait") return { kind: "wait" };
  return { kind: "sign", signature: await deps.signer.signRefund(srcChain, proof) };
}

/** Signs a claim if the payout of exactly this lock is in a final block of the destination. */
async function judgeClaim(
  deps: AttestorDeps,
  deliveryId: Hex32,
  request: AttestationRequest & { readonly kind: "claim" },
): Promise<Verdict> {
  const { commitment, claim, hints } = request;
  const read = await readLock(deps, deliveryId, { ...request, proof: claim });
  if ("kind" in read) return read;
  const { destination, lock, paid } = read;
  if (!(await destination.isDelivered(paid, "final"))) return { kind: "wait" };
  const found = await destination.findDelivery(paid, "latest", hints);
  if (found === "unlocated") {
    throw new OperatingError("RPC_UNAVAILABLE", "No hint of the claim shows its payout.", {
      details: { chainId: commitment.destChain, reason: "payout not located" },
    });
  }
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
 * Signs a return if the delivery is unpaid at a final block of the destination after the contract's own payout window, counted
 * from the time of the final lock. No honest attestor signed a window that starts later, so the contract refuses all payouts
 * from then on, and the delivery can never be paid.
 */
async function judgeReturn(
  deps: AttestorDeps,
  deliveryId: Hex32,
  request: AttestationRequest & { readonly kind: "return" },
): Promise<Verdict> {
  const { order, srcChain } = request;
  const read = await readLock(deps, deliveryId, { ...request, proof: order });
  if ("kind" in read) return read;
  const { destination, lock, paid } = read;
  const windowEnd = lock.lockedAt + (await destination.getPayoutWindow("final"));
  // The time is read first: a later final block can only contain more payouts.
  if (!(await destination.isOrderOver(windowEnd))) return { kind: "wait" };
  if (await destination.isDelivered(paid, "final")) return refuse("already_delivered");
  return { kind: "sign", signature: await deps.signer.signReturn(srcChain, order) };
}

/** Reads the open lock that a claim or return ends, at a final block; a verdict where there is none for this destination. */
async function readLock(
  { chains }: AttestorDeps,
  deliveryId: Hex32,
  request: {
    readonly srcChain: number;
    readonly commitment: Commitment;
    readonly lock: RequestedLock;
    readonly proof: { readonly deliveryId: Hex32 };
    readonly hints: readonly TxHash[];
  },
): Promise<
  { readonly destination: Chain; readonly lock: Lock; readonly paid: PaidLock } | Verdict
> {
  const { srcChain, commitment, proof, hints } = request;
  const source = chains.get(srcChain);
  const destination = chains.get(commitment.destChain);
  if (!source || !destination) return refuse("unknown_chain");
  const facts = { ...request.lock, commitment: source.hashCommitment(commitment) };
  if (proof.deliveryId !== deliveryId || source.deliveryIdOf(facts) !== deliveryId) {
    return refuse("other_delivery_id");
  }
  // Another contract on the destination may have paid the lock.
  if (facts.delivery !== padAddress(destination.addresses.delivery)) return refuse("other_lock");
  const lock = await source.getLock(facts, "final", hints);
  if (!lock) return { kind: "wait" };
  if (lock.state !== "locked") return refuse(`already_${lock.state}`);
  const { escrow } = source.addresses;
  return { destination, lock, paid: { deliveryId, srcChain, escrow, seq: lock.seq } };
}

/** Returns the lock that a payout names. */
function lockOf(destination: Chain, order: Payout): LockFacts {
  const { srcToken: token, lockedAmount: amount, minOut, seq } = order;
  const commitment = destination.hashCommitment(order.commitment);
  const delivery = padAddress(destination.addresses.delivery);
  return { commitment, delivery, token, amount, minOut, seq };
}

function refuse(reason: string): Verdict {
  return { kind: "refuse", reason };
}
