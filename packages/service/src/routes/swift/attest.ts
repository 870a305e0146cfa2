/**
 * The attestor's work: it reads the chains with its own eyes and signs only what it finds there at final blocks. The
 * rows it is handed are questions, never evidence.
 */
import type { Chain, Chains, ClaimOrder, DeliveryOrder } from "../../chains/port.ts";
import { rescale } from "../../core/amounts.ts";
import type { Commitment } from "../../core/commitment.ts";
import { padAddress, unpadAddress, type Hex, type Hex32 } from "../../core/hex.ts";
import type { Clock } from "../../core/ports.ts";
import type { Db } from "../../db/schema.ts";
import type { AttestorSigner } from "../../signers/port.ts";
import type { Log } from "../../telemetry/log.ts";
import type { Pair } from "../port.ts";
import {
  answerAttestation,
  type AttestationRequest,
  listOpenRequests,
  parseRequest,
  putOffRequest,
} from "./attestations.ts";

export interface AttestorDeps {
  readonly db: Db;
  /** The attestor's own readers. */
  readonly chains: Chains;
  readonly signer: AttestorSigner;
  readonly clock: Clock;
  readonly log: Log;
  /** The same-asset pairs it vouches for, with both tokens' decimals. */
  readonly pairs: readonly (Pair & {
    readonly decimalsIn: number;
    readonly decimalsOut: number;
  })[];
  /** Tells the settler that there is an answer. */
  readonly wakeSettler: () => void;
}

/** How long after the lock an order may be used at most, in seconds. */
export const ORDER_AFTER_LOCK_MAX_S = 12n * 3600n;
const WAIT_POLL_MS = 500;
const TROUBLE_POLL_MS = 5_000;

type Verdict =
  | { readonly kind: "sign"; readonly signature: Hex }
  | { readonly kind: "refuse"; readonly reason: string }
  /** Not provable yet: the chain has not come far enough. */
  | { readonly kind: "wait" };

/** Answers what can be answered. Returns true when there may be more at once. */
export async function lookAtRequests(deps: AttestorDeps): Promise<boolean> {
  const { db, clock, log, signer } = deps;
  const limit = 50;
  const open = await listOpenRequests(db, { nowMs: clock.now(), limit });
  let answered = 0;
  for (const { id, deliveryId, row } of open) {
    let verdict: Verdict;
    try {
      verdict = await judge(deps, deliveryId, parseRequest(row));
    } catch (error) {
      log.warn({ err: error, attestation: id }, "could not be judged now, will be looked at again");
      await putOffRequest(db, id, clock.now() + TROUBLE_POLL_MS);
      continue;
    }
    if (verdict.kind === "wait") {
      await putOffRequest(db, id, clock.now() + WAIT_POLL_MS);
      continue;
    }
    const signature = verdict.kind === "sign" ? verdict.signature : null;
    const refusal = verdict.kind === "refuse" ? verdict.reason : null;
    if (refusal) log.error({ attestation: id, refusal }, "refused to sign");
    await answerAttestation(db, id, {
      signer: signer.address,
      nowMs: clock.now(),
      signature,
      refusal,
    });
    answered += 1;
  }
  if (answered > 0) deps.wakeSettler();
  return open.length === limit;
}

async function judge(
  deps: AttestorDeps,
  deliveryId: Hex32,
  request: AttestationRequest,
): Promise<Verdict> {
  return request.kind === "delivery"
    ? judgeOrder(deps, deliveryId, request.order)
    : judgeClaim(deps, deliveryId, request);
}

/** An order is signed when the escrow holds the lock at a final block, for this destination, and it is not paid yet. */
async function judgeOrder(
  deps: AttestorDeps,
  deliveryId: Hex32,
  order: DeliveryOrder,
): Promise<Verdict> {
  const { commitment } = order;
  const source = deps.chains.get(order.srcChain);
  const destination = deps.chains.get(commitment.destChain);
  if (!source || !destination) return refuse("unknown_chain");
  if (order.escrow !== source.addresses.escrow) return refuse("unknown_escrow");
  if (destination.deliveryIdOfOrder(order) !== deliveryId) return refuse("other_delivery_id");
  const pair = deps.pairs.find(
    (known) =>
      known.srcChain === order.srcChain &&
      known.srcToken === order.srcToken &&
      known.destChain === commitment.destChain &&
      padAddress(known.destToken) === commitment.destToken,
  );
  if (!pair) return refuse("unknown_pair");

  const lock = await source.getLock(deliveryId, "final");
  if (!lock) return { kind: "wait" };
  if (lock.state !== "locked") return refuse("already_claimed");
  if (!isLockOf(source, destination, lock, commitment)) return refuse("other_lock");
  if (order.amount < lock.minOut) return refuse("below_promised_minimum");
  if (order.amount > rescale(lock.amount, pair.decimalsIn, pair.decimalsOut)) {
    return refuse("above_locked_value");
  }
  if (order.deadline > lock.lockedAt + ORDER_AFTER_LOCK_MAX_S) return refuse("deadline_too_late");
  if (await destination.isDelivered(deliveryId, "latest")) return refuse("already_delivered");
  return { kind: "sign", signature: await deps.signer.signDelivery(commitment.destChain, order) };
}

/** A claim is signed when the payment of exactly this lock is in a final block of the destination. */
async function judgeClaim(
  deps: AttestorDeps,
  deliveryId: Hex32,
  request: {
    readonly srcChain: number;
    readonly commitment: Commitment;
    readonly claim: ClaimOrder;
  },
): Promise<Verdict> {
  const { commitment, claim } = request;
  const source = deps.chains.get(request.srcChain);
  const destination = deps.chains.get(commitment.destChain);
  if (!source || !destination) return refuse("unknown_chain");
  if (claim.deliveryId !== deliveryId) return refuse("other_delivery_id");
  const lock = await source.getLock(deliveryId, "final");
  if (!lock) return { kind: "wait" };
  if (lock.state !== "locked") return refuse("already_claimed");
  if (!isLockOf(source, destination, lock, commitment)) return refuse("other_lock");
  if (!(await destination.isDelivered(deliveryId, "final"))) return { kind: "wait" };
  const found = await destination.findDelivery(deliveryId);
  if (!found || found.blockNumber > (await destination.getFinalNumber())) return { kind: "wait" };
  if (
    found.to !== unpadAddress(commitment.destWallet) ||
    padAddress(found.token) !== commitment.destToken ||
    found.amount !== claim.paidAmount ||
    found.amount < lock.minOut
  ) {
    return refuse("other_payment");
  }
  return { kind: "sign", signature: await deps.signer.signClaim(request.srcChain, claim) };
}

function isLockOf(
  source: Chain,
  destination: Chain,
  lock: { wallet: string; commitment: Hex32; destChain: number; delivery: Hex32 },
  commitment: Commitment,
): boolean {
  return (
    lock.commitment === source.hashCommitment(commitment) &&
    lock.wallet === source.predictWallet(commitment) &&
    lock.destChain === commitment.destChain &&
    lock.delivery === padAddress(destination.addresses.delivery)
  );
}

function refuse(reason: string): Verdict {
  return { kind: "refuse", reason };
}
