/**
 * The desk between settler and attestor: a request is a row, the answer is written into it. The two run in different
 * processes in production; a row that nobody answers is asked again under another number once it has expired.
 */
import { type Static, Type } from "typebox";
import { Value } from "typebox/value";
import type { ClaimOrder, DeliveryOrder } from "../../chains/port.ts";
import type { Commitment } from "../../core/commitment.ts";
import { OperatingError } from "../../core/errors.ts";
import { type EvmAddress, type Hex, type Hex32, toEvmAddress, toHex32 } from "../../core/hex.ts";
import { formatStamp } from "../../core/stamp.ts";
import type { Db, Tx } from "../../db/schema.ts";

/** `delivery:<deliveryId>:<number>` or `claim:<deliveryId>:<number>`. */
export type AttestationId = `${"delivery" | "claim"}:${Hex32}:${number}`;

export type AttestationRequest =
  | { readonly kind: "delivery"; readonly order: DeliveryOrder }
  | {
      readonly kind: "claim";
      readonly srcChain: number;
      readonly commitment: Commitment;
      readonly claim: ClaimOrder;
    };

export interface Attestation {
  readonly id: AttestationId;
  readonly deliveryId: Hex32;
  /** Unix seconds; the signature is worth nothing afterwards. */
  readonly deadline: bigint;
  readonly signature: Hex | null;
  /** Why the attestor will not sign this, in one word. */
  readonly refusal: string | null;
}

const Digits = Type.String({ pattern: "^\\d{1,78}$" });
const Word = Type.String({ pattern: "^0x[0-9a-f]{64}$" });
const Address = Type.String({ pattern: "^0x[0-9a-f]{40}$" });
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
const RequestRow = Type.Union([
  Type.Object({
    kind: Type.Literal("delivery"),
    commitment: CommitmentRow,
    srcChain: Type.Integer(),
    escrow: Address,
    srcToken: Address,
    seq: Digits,
    amount: Digits,
    deadline: Digits,
  }),
  Type.Object({
    kind: Type.Literal("claim"),
    commitment: CommitmentRow,
    srcChain: Type.Integer(),
    deliveryId: Word,
    paidAmount: Digits,
    deadline: Digits,
  }),
]);

/** Asks for a signature, in the transaction that counts the request. */
export async function insertAttestation(
  tx: Tx,
  args: {
    readonly id: AttestationId;
    readonly deliveryId: Hex32;
    readonly deadline: bigint;
    readonly request: AttestationRequest;
    readonly nowMs: number;
  },
): Promise<void> {
  await tx
    .insertInto("attestations")
    .values({
      id: args.id,
      kind: args.request.kind,
      delivery_id: args.deliveryId,
      request: JSON.stringify(formatRequest(args.request)),
      deadline: args.deadline,
      next_check_at: formatStamp(args.nowMs),
    })
    .onConflict((conflict) => conflict.column("id").doNothing())
    .execute();
}

export async function getAttestation(db: Db | Tx, id: AttestationId): Promise<Attestation | null> {
  const row = await db
    .selectFrom("attestations")
    .select(["delivery_id", "deadline", "signature", "refusal"])
    .where("id", "=", id)
    .executeTakeFirst();
  if (!row) return null;
  return {
    id,
    deliveryId: toHex32(row.delivery_id),
    deadline: row.deadline,
    // CAST: written as Hex by answerAttestation.
    signature: row.signature as Hex | null,
    refusal: row.refusal,
  };
}

/** A question to the attestor; `row` is parsed when it is judged, so that a broken one troubles nobody else. */
export interface OpenRequest {
  readonly id: AttestationId;
  readonly deliveryId: Hex32;
  readonly row: unknown;
}

/** Requests without an answer that are due and can still be answered in time. */
export async function listOpenRequests(
  db: Db,
  args: { readonly nowMs: number; readonly limit: number },
): Promise<OpenRequest[]> {
  const rows = await db
    .selectFrom("attestations")
    .select(["id", "delivery_id", "request"])
    .where("signature", "is", null)
    .where("refusal", "is", null)
    .where("next_check_at", "<=", formatStamp(args.nowMs))
    .where("deadline", ">", BigInt(Math.floor(args.nowMs / 1000)))
    .orderBy("next_check_at")
    .limit(args.limit)
    .execute();
  return rows.map((row) => ({
    // CAST: written by insertAttestation only.
    id: row.id as AttestationId,
    deliveryId: toHex32(row.delivery_id),
    row: row.request,
  }));
}

/** Says when a request that cannot be answered yet is looked at again. */
export async function putOffRequest(db: Db, id: AttestationId, atMs: number): Promise<void> {
  await db
    .updateTable("attestations")
    .set({ next_check_at: formatStamp(atMs) })
    .where("id", "=", id)
    .execute();
}

/** Writes the attestor's answer, once. */
export async function answerAttestation(
  db: Db,
  id: AttestationId,
  answer: {
    readonly signer: EvmAddress;
    readonly nowMs: number;
    readonly signature: Hex | null;
    readonly refusal: string | null;
  },
): Promise<void> {
  await db
    .updateTable("attestations")
    .set({
      signature: answer.signature,
      refusal: answer.refusal,
      signer: answer.signer,
      answered_at: formatStamp(answer.nowMs),
    })
    .where("id", "=", id)
    .where("signature", "is", null)
    .where("refusal", "is", null)
    .execute();
}

function formatRequest(request: AttestationRequest): Static<typeof RequestRow> {
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
    };
  }
  return {
    kind: "claim",
    commitment: { ...request.commitment },
    srcChain: request.srcChain,
    deliveryId: request.claim.deliveryId,
    paidAmount: request.claim.paidAmount.toString(),
    deadline: request.claim.deadline.toString(),
  };
}

/** Reads a request. @throws OperatingError INTERNAL when it does not have its shape. */
export function parseRequest(row: unknown): AttestationRequest {
  if (!Value.Check(RequestRow, row)) {
    throw new OperatingError("INTERNAL", "An attestation request does not have its shape.");
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
  if (row.kind === "claim") {
    return {
      kind: "claim",
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
    order: {
      commitment,
      srcChain: row.srcChain,
      escrow: toEvmAddress(row.escrow),
      srcToken: toEvmAddress(row.srcToken),
      seq: BigInt(row.seq),
      amount: BigInt(row.amount),
      deadline: BigInt(row.deadline),
    },
  };
}
