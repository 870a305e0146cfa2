/** Requests to the attestor, and their form in the database. */
import { type Static, Type } from "typebox";
import { Value } from "typebox/value";
import type { ClaimProof, Payout, ReturnProof } from "../../chains/port/index.ts";
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

/** `delivery:<deliveryId>:<number>`, and likewise for claims, returns and prices. */
export type AttestationId = `${AttestationRequest["kind"]}:${Hex32}:${number}`;

/** A request that needs evidence on a chain. */
interface Provable {
  /** Transactions that may hold the evidence: tried first, never trusted. */
  readonly hints: readonly TxHash[];
}

export type AttestationRequest =
  | ({ readonly kind: "delivery"; readonly order: Payout } & Provable)
  | ({
      readonly kind: "claim";
      readonly srcChain: number;
      readonly commitment: Commitment;
      readonly claim: ClaimProof;
    } & Provable)
  | ({
      readonly kind: "return";
      readonly srcChain: number;
      readonly commitment: Commitment;
      readonly order: ReturnProof;
    } & Provable)
  | {
      readonly kind: "price";
      readonly srcChain: number;
      readonly commitment: Commitment;
      readonly token: Address;
      readonly route: Address;
      readonly maxAmount: bigint;
      readonly deadline: bigint;
    };

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
    seq: Digits,
    amount: Digits,
    deadline: Digits,
    hints: Hints,
  }),
  Type.Object({
    kind: Type.Literal("claim"),
    commitment: CommitmentRow,
    srcChain: Type.Integer(),
    deliveryId: Word,
    paidAmount: Digits,
    deadline: Digits,
    hints: Hints,
  }),
  Type.Object({
    kind: Type.Literal("return"),
    commitment: CommitmentRow,
    srcChain: Type.Integer(),
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
    maxAmount: Digits,
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
      seq: order.seq.toString(),
      amount: order.amount.toString(),
      deadline: order.deadline.toString(),
      hints: [...request.hints],
    };
  }
  if (request.kind === "price") {
    return {
      ...request,
      commitment: { ...request.commitment },
      maxAmount: request.maxAmount.toString(),
      deadline: request.deadline.toString(),
    };
  }
  if (request.kind === "return") {
    return {
      kind: "return",
      commitment: { ...request.commitment },
      srcChain: request.srcChain,
      deliveryId: request.order.deliveryId,
      deadline: request.order.deadline.toString(),
      hints: [...request.hints],
    };
  }
  return {
    kind: "claim",
    commitment: { ...request.commitment },
    srcChain: request.srcChain,
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
  };
  if (row.kind === "price") {
    return {
      kind: "price",
      srcChain: row.srcChain,
      commitment,
      token: toAddress(row.token),
      route: toAddress(row.route),
      maxAmount: BigInt(row.maxAmount),
      deadline: BigInt(row.deadline),
    };
  }
  const hints = (row.hints ?? []).map(toTxHash);
  if (row.kind === "return") {
    return {
      kind: "return",
      hints,
      srcChain: row.srcChain,
      commitment,
      order: { deliveryId: toHex32(row.deliveryId), deadline: BigInt(row.deadline) },
    };
  }
  if (row.kind === "claim") {
    return {
      kind: "claim",
      hints,
      srcChain: row.srcChain,
      commitment,
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
      seq: BigInt(row.seq),
      amount: BigInt(row.amount),
      deadline: BigInt(row.deadline),
    },
  };
}
