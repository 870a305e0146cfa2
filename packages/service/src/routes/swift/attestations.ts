/**
 * Requests from settler to attestor. A request is a row, and the answer is written into it, because the two run in separate
 * processes in production. A request that expires unanswered is repeated under the next number.
 */
import { sql } from "kysely";
import { type Address, type Hex, type Hex32, toHex32 } from "../../core/hex.ts";
import { formatStamp } from "../../core/stamp.ts";
import type { Db, Tx } from "../../db/schema.ts";
import {
  type AttestationId,
  type AttestationRequest,
  formatRequest,
  parseRequest,
} from "./attestation-requests.ts";

export interface Attestation {
  readonly id: AttestationId;
  readonly deliveryId: Hex32;
  /** Unix seconds after which the signature is refused. */
  readonly deadline: bigint;
  readonly signature: Hex | null;
  /** Reason for a refusal, as one word. */
  readonly refusal: string | null;
}

/** Inserts a request, in the transaction that counts it. */
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

/** An open request. `row` is parsed when it is judged, so that a malformed one does not block the others. */
export interface OpenRequest {
  readonly id: AttestationId;
  readonly kind: string;
  readonly deliveryId: Hex32;
  readonly row: unknown;
}

/** Lists due requests without an answer whose deadline has not passed. */
export async function listOpenRequests(
  db: Db,
  args: { readonly nowMs: number; readonly limit: number },
): Promise<OpenRequest[]> {
  const rows = await db
    .selectFrom("attestations")
    .select(["id", "kind", "delivery_id", "request"])
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
    kind: row.kind,
    deliveryId: toHex32(row.delivery_id),
    row: row.request,
  }));
}

/** Scope of a price: a token in a wallet, and the route that sweeps it. */
export interface PriceScope {
  /** Hash of the commitment. */
  readonly commitment: Hex32;
  readonly srcChain: number;
  readonly token: Address;
  readonly route: Address;
}

const ofScope = (db: Db, { commitment, srcChain, token, route }: PriceScope) =>
  db
    .selectFrom("attestations")
    .where("delivery_id", "=", commitment)
    .where("kind", "=", "price")
    .where(
      sql<boolean>`(request ->> 'srcChain', request ->> 'token', request ->> 'route')
        = (${String(srcChain)}, ${token}, ${route})`,
    );

/** Returns the newest price request for a token, wallet and route, or null. */
export async function getLatestPrice(db: Db, scope: PriceScope) {
  const row = await ofScope(db, scope)
    .select(["request", "rate", "deadline", "signature", "refusal"])
    .orderBy("created_at", "desc")
    .limit(1)
    .executeTakeFirst();
  if (!row) return null;
  const request = parseRequest(row.request);
  if (request.kind !== "price") throw new TypeError("expected the row of a price");
  return {
    maxAmount: request.maxAmount,
    rate: row.rate === null ? null : BigInt(row.rate),
    deadline: row.deadline,
    // CAST: written as Hex by answerAttestation.
    signature: row.signature as Hex | null,
    refusal: row.refusal,
  };
}

/** Returns the number of a wallet's next price request, for any token and route. */
export async function nextPriceNumber(db: Db, commitment: Hex32): Promise<number> {
  const { asked } = await db
    .selectFrom("attestations")
    .select((eb) => eb.fn.countAll<string>().as("asked"))
    .where("delivery_id", "=", commitment)
    .where("kind", "=", "price")
    .executeTakeFirstOrThrow();
  return Number(asked) + 1;
}

/** Returns the lowest signed rate for a token, wallet and route that was usable at a time, or null. */
export async function findLowestRate(
  db: Db,
  scope: PriceScope,
  at: { readonly timeS: bigint; readonly lifetimeS: bigint },
): Promise<bigint | null> {
  const row = await ofScope(db, scope)
    .select((eb) => eb.fn.min("rate").as("lowest"))
    .where("signature", "is not", null)
    .where("deadline", ">=", at.timeS)
    .where("deadline", "<=", at.timeS + at.lifetimeS)
    .executeTakeFirstOrThrow();
  return row.lowest === null ? null : BigInt(row.lowest);
}

/** Returns the latest deadline of the payouts signed for a delivery, or null. */
export async function getLastSignedDeadline(db: Db, deliveryId: Hex32): Promise<bigint | null> {
  const row = await db
    .selectFrom("attestations")
    .select((eb) => eb.fn.max("deadline").as("latest"))
    .where("delivery_id", "=", deliveryId)
    .where("kind", "=", "delivery")
    .where("signature", "is not", null)
    .executeTakeFirstOrThrow();
  return row.latest === null ? null : BigInt(row.latest);
}

/** Reschedules a request that cannot be answered yet. */
export async function rescheduleRequest(db: Db, id: AttestationId, atMs: number): Promise<void> {
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
    readonly signer: Address;
    readonly nowMs: number;
    readonly signature: Hex | null;
    readonly refusal: string | null;
    /** The attestor's own rate, for a price request. */
    readonly rate?: bigint;
  },
): Promise<void> {
  await db
    .updateTable("attestations")
    .set({
      rate: answer.rate ?? null,
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
