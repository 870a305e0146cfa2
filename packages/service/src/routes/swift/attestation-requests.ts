/** Requests to the attestor, and their form in the database. */
import { type Static, Type } from "typebox";
import { Value } from "typebox/value";
import type {
  ClaimProof,
  LockFacts,
  Payout,
  RefundProof,
  ReturnProof,
} from "../../chains/port/index.ts";
import type { Commitment } from "../../core/commitment.ts";
import { OperatingError } from "../../core/errors.ts";
import {
  type Address,
  type Hex32,
  toAddress,
  toHex32,
  toTxHash,
  type TxHash,
} from "../../core/hex.ts";
import { REFUND_REASONS } from "../../core/refund-reason.ts";

/** `delivery:<deliveryId>:<number>`, and likewise for claims and returns; prices and refunds have the commitment's hash. */
export type AttestationId = `${AttestationKind}:${Hex32}:${number}`;

export const ATTESTATION_KINDS = ["delivery", "claim", "return", "price", "refund"] as const;
export type AttestationKind = AttestationRequest["kind"];

/** A request that needs evidence on a chain. */
interface Provable {
  /** Transactions that may hold the evidence: tried first, never trusted. */
  readonly hints: readonly TxHash[];
}

/** A lock's facts as its request names them; the commitment is the request's. */
export type RequestedLock = Omit<LockFacts, "commitment">;

export type AttestationRequest =
  | ({ readonly kind: "delivery"; readonly order: Payout } & Provable)
  | ({
      readonly kind: "claim";
      readonly srcChain: number;
      readonly commitment: Commitment;
      readonly lock: RequestedLock;
      readonly claim: ClaimProof;
    } & Provable)
  | ({
      readonly kind: "return";
      readonly srcChain: number;
      readonly commitment: Commitment;
      readonly lock: RequestedLock;
      readonly order: ReturnProof;
    } & Provable)
  | {
      readonly kind: "price";
      readonly srcChain: number;
      readonly commitment: Commitment;
      readonly token: Address;
      readonly route: Address;
      /** The settler's rate, which each attestor compares with its own: all sign the same one. */
      readonly rate: bigint;
      readonly maxAmount: bigint;
      readonly deadline: bigint;
    }
  | { readonly kind: "refund"; readonly srcChain: number; readonly proof: RefundProof };

const Digits = Type.String({ pattern: "^\\d{1,78}$" });

const Word = Type.String({ pattern: "^0x[0-9a-f]{64}$" });

const Account = Type.String({ pattern: "^0x([0-9a-f]{40}|[0-9a-f]{64})$" });

const CommitmentRow = Type.Object({
  integrator: Word,
  userId: Word,
  destChain: Type.Integer(),
  destWallet: Word,
  destToken: Word,
  refundAuthority: Word,
  maxFeeBps: Type.Integer(),
  maxSlippageBps: Type.Integer(),
  routes: Word,
  flags: Type.Integer(),
});

const LockRow = Type.Object({
  delivery: Word,
  token: Account,
  amount: Digits,
  minOut: Digits,
  seq: Digits,
});

/** Absent in rows of earlier releases. */
const Hints = Type.Optional(
  Type.Array(Type.String({ pattern: "^0x([0-9a-f]{64}|[0-9a-f]{128})$" })),
);

const RequestRow = Type.Union([
  Type.Object({
    kind: Type.Literal("delivery"),
    commitment: CommitmentRow,
    srcChain: Type.Integer(),
    escrow: Account,
    srcToken: Account,
    lockedAmount: Digits,
    minOut: Digits,
    seq: Digits,
    windowStart: Digits,
    amount: Digits,
    hints: Hints,
  }),
  Type.Object({
    kind: Type.Literal("claim"),
    commitment: CommitmentRow,
    srcChain: Type.Integer(),
    lock: LockRow,
    deliveryId: Word,
    paidAmount: Digits,
    deadline: Digits,
    hints: Hints,
  }),
  Type.Object({
    kind: Type.Literal("return"),
    commitment: CommitmentRow,
    srcChain: Type.Integer(),
    lock: LockRow,
    deliveryId: Word,
    deadline: Digits,
    hints: Hints,
  }),
  Type.Object({
    kind: Type.Literal("price"),
    commitment: CommitmentRow,
    srcChain: Type.Integer(),
    token: Account,
    route: Account,
    rate: Digits,
    maxAmount: Digits,
    deadline: Digits,
  }),
  Type.Object({
    kind: Type.Literal("refund"),
    commitment: CommitmentRow,
    srcChain: Type.Integer(),
    token: Account,
    maxAmount: Digits,
    reason: Type.Enum(REFUND_REASONS),
    deadline: Digits,
  }),
]);

export function formatRequest(request: AttestationRequest): Static<typeof RequestRow> {
  if (request.kind === "delivery") {
    const { order } = request;
    return {
      kind: "delivery",
      commitment: { ...order.commitment },
      srcChain: order.srcChain,
      escrow: order.escrow,
      srcToken: order.srcToken,
      lockedAmount: order.lockedAmount.toString(),
      minOut: order.minOut.toString(),
      seq: order.seq.toString(),
      windowStart: order.windowStart.toString(),
      amount: order.amount.toString(),
      hints: [...request.hints],
    };
  }
  if (request.kind === "price") {
    return {
      ...request,
      commitment: { ...request.commitment },
      rate: request.rate.toString(),
      maxAmount: request.maxAmount.toString(),
      deadline: request.deadline.toString(),
    };
  }
  if (request.kind === "refund") {
    const { kind, srcChain, proof } = request;
    return {
      kind,
      srcChain,
      commitment: { ...proof.commitment },
      token: proof.token,
      maxAmount: proof.maxAmount.toString(),
      reason: proof.reason,
      deadline: proof.deadline.toString(),
    };
  }
  if (request.kind === "return") {
    return {
      kind: "return",
      commitment: { ...request.commitment },
      srcChain: request.srcChain,
      lock: formatLock(request.lock),
      deliveryId: request.order.deliveryId,
      deadline: request.order.deadline.toString(),
      hints: [...request.hints],
    };
  }
  return {
    kind: "claim",
    commitment: { ...request.commitment },
    srcChain: request.srcChain,
    lock: formatLock(request.lock),
    deliveryId: request.claim.deliveryId,
    paidAmount: request.claim.paidAmount.toString(),
    deadline: request.claim.deadline.toString(),
    hints: [...request.hints],
  };
}

/**
 * Parses a request.
 * @throws OperatingError INTERNAL if it is malformed.
 */
export function parseRequest(row: unknown): AttestationRequest {
  if (!Value.Check(RequestRow, row)) {
    throw new OperatingError("INTERNAL", "The attestation request is malformed.");
  }
  const commitment: Commitment = {
    integrator: toHex32(row.commitment.integrator),
    userId: toHex32(row.commitment.userId),
    destChain: row.commitment.destChain,
    destWallet: toHex32(row.commitment.destWallet),
    destToken: toHex32(row.commitment.destToken),
    refundAuthority: toHex32(row.commitment.refundAuthority),
    maxFeeBps: row.commitment.maxFeeBps,
    maxSlippageBps: row.commitment.maxSlippageBps,
    routes: toHex32(row.commitment.routes),
    flags: row.commitment.flags,
  };
  if (row.kind === "price") {
    return {
      kind: "price",
      srcChain: row.srcChain,
      commitment,
      token: toAddress(row.token),
      route: toAddress(row.route),
      rate: BigInt(row.rate),
      maxAmount: BigInt(row.maxAmount),
      deadline: BigInt(row.deadline),
    };
  }
  if (row.kind === "refund") {
    const { kind, srcChain, token, maxAmount, reason, deadline } = row;
    const terms = { maxAmount: BigInt(maxAmount), deadline: BigInt(deadline) };
    return { kind, srcChain, proof: { commitment, token: toAddress(token), reason, ...terms } };
  }
  const hints = (row.hints ?? []).map(toTxHash);
  if (row.kind === "return") {
    return {
      kind: "return",
      hints,
      srcChain: row.srcChain,
      commitment,
      lock: parseLock(row.lock),
      order: { deliveryId: toHex32(row.deliveryId), deadline: BigInt(row.deadline) },
    };
  }
  if (row.kind === "claim") {
    return {
      kind: "claim",
      hints,
      srcChain: row.srcChain,
      commitment,
      lock: parseLock(row.lock),
      claim: {
        deliveryId: toHex32(row.deliveryId),
        paidAmount: BigInt(row.paidAmount),
        deadline: BigInt(row.deadline),
      },
    };
  }
  return {
    kind: "delivery",
    hints,
    order: {
      commitment,
      srcChain: row.srcChain,
      escrow: toAddress(row.escrow),
      srcToken: toAddress(row.srcToken),
      lockedAmount: BigInt(row.lockedAmount),
      minOut: BigInt(row.minOut),
      seq: BigInt(row.seq),
      windowStart: BigInt(row.windowStart),
      amount: BigInt(row.amount),
    },
  };
}

function formatLock(lock: RequestedLock): Static<typeof LockRow> {
  const { delivery, token, amount, minOut, seq } = lock;
  return {
    delivery,
    token,
    amount: amount.toString(),
    minOut: minOut.toString(),
    seq: seq.toString(),
  };
}

function parseLock(row: Static<typeof LockRow>): RequestedLock {
  return {
    delivery: toHex32(row.delivery),
    token: toAddress(row.token),
    amount: BigInt(row.amount),
    minOut: BigInt(row.minOut),
    seq: BigInt(row.seq),
  };
}
