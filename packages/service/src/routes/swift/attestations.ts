/**
 * Requests from settler to attestors. A request is a row, and each attestor's answer a row of its own, because they run in
 * separate processes in production and do not know each other. A request that expires before enough have signed is
 * repeated under the next number.
 */
import { sql } from "kysely";
import { type Address, type Hex, type Hex32, toHex32 } from "../../core/hex.ts";
import { formatStamp } from "../../core/stamp.ts";
import { gather, gatherCalls } from "../../db/gather.ts";
import type { Db, Tx } from "../../db/schema.ts";
import type { AttestedMessage, AttestorSet } from "../../signers/port.ts";
import { type Answer, countAnswers } from "./count-answers.ts";
import {
  type AttestationId,
  type AttestationKind,
  type AttestationRequest,
  formatRequest,
  parseRequest,
} from "./attestation-requests.ts";

/** A request, and how far its answers suffice. */
export interface Attestation {
  readonly id: AttestationId;
  readonly deliveryId: Hex32;
  /** The request as it was written, for `parseRequest`. */
  readonly row: unknown;
  /** Unix seconds after which the signatures are refused; for a payout, the end of its window. */
  readonly deadline: bigint;
  /** Signatures of as many attestors as the threshold, in the form of the contracts; null before. */
  readonly signatures: Hex | null;
  /** Reason for a refusal, as one word, once too many refused for the threshold. */
  readonly refusal: string | null;
}

/** A request to insert. */
export interface NewAttestation {
  readonly id: AttestationId;
  readonly deliveryId: Hex32;
  readonly deadline: bigint;
  readonly request: AttestationRequest;
}

/** Inserts a request, in the transaction that counts it. */
export function insertAttestation(tx: Tx, attestation: NewAttestation): Promise<void> {
  return insertAttestations(tx, [attestation]);
}

/** Inserts requests, in the transaction that counts them. */
export async function insertAttestations(
  tx: Tx,
  attestations: readonly NewAttestation[],
): Promise<void> {
  if (attestations.length === 0) return;
  await tx
    .insertInto("attestations")
    .values(
      attestations.map(({ id, deliveryId, deadline, request }) => ({
        id,
        kind: request.kind,
        delivery_id: deliveryId,
        request: JSON.stringify(formatRequest(request)),
        rate: request.kind === "price" ? request.rate : null,
        deadline,
      })),
    )
    .onConflict((conflict) => conflict.column("id").doNothing())
    .execute();
}

/** Records that planned transactions carry the signatures of these requests: no attestor is asked for more of them. */
export async function recordUsed(tx: Tx, ids: readonly AttestationId[]): Promise<void> {
  if (ids.length === 0) return;
  await tx
    .updateTable("attestations")
    .set({ used: true })
    .where(sql<boolean>`id = any(${ids}::text[])`)
    .execute();
}

/** Reads a request and its answers; null if there is none. Counts the signatures over exactly the given message. */
export async function getAttestation(
  db: Db | Tx,
  attestors: AttestorSet,
  id: AttestationId,
  messageOf: (asked: Pick<Attestation, "row" | "deadline">) => AttestedMessage,
): Promise<Attestation | null> {
  const row = await readRequest(db, id);
  if (!row) return null;
  const asked = { row: row.request, deadline: row.deadline };
  const answers = await listAnswers(db, id);
  const counted = countAnswers(attestors, messageOf(asked), answers);
  return { id, deliveryId: toHex32(row.delivery_id), ...asked, ...counted };
}

const readRequest = gather(
  async (db, ids: readonly string[]) => {
    const rows = await db
      .selectFrom("attestations")
      .select(["id", "delivery_id", "request", "deadline"])
      .where(sql<boolean>`id = any(${ids}::text[])`)
      .execute();
    return rows.map((row) => [row.id, row] as const);
  },
  (row) => row,
);

async function listAnswers(db: Db | Tx, id: string): Promise<readonly Answer[]> {
  return (await readAnswers(db, id)) ?? [];
}

/** In the order in which they were given. */
const readAnswers = gather(
  async (db, ids: readonly string[]) => {
    const rows = await db
      .selectFrom("attestation_answers")
      .select(["attestation_id", "written_by", "signature", "refusal"])
      .where(sql<boolean>`attestation_id = any(${ids}::text[])`)
      .orderBy("answered_at")
      .execute();
    return [...Map.groupBy(rows, (row) => row.attestation_id)];
  },
  (row) => row,
);

/** An open request. `row` is parsed when it is judged, so that a malformed one does not block the others. */
export interface OpenRequest {
  readonly id: AttestationId;
  readonly kind: string;
  readonly deliveryId: Hex32;
  readonly row: unknown;
}

/**
 * Lists requests that are due for an attestor, without an answer of its own, not used and whose deadline has not passed. Integrators take
 * turns, so that nobody's claims and prices wait behind all requests of another; those of each come in the order in which
 * they became due.
 */
export async function listOpenRequests(
  db: Db,
  args: {
    readonly attestor: Address;
    readonly kinds: readonly AttestationKind[];
    readonly nowMs: number;
    readonly limit: number;
  },
): Promise<OpenRequest[]> {
  const due = sql`coalesce(own.next_check_at, created_at)`;
  const open = db
    .selectFrom("attestations")
    .leftJoin("attestation_answers as own", (join) =>
      join
        .onRef("own.attestation_id", "=", "attestations.id")
        .on("own.attestor", "=", args.attestor),
    )
    .select([
      "id",
      "kind",
      "delivery_id",
      "request",
      sql<string>`${due}`.as("due"),
      sql<number>`row_number() over (partition by integrator_id order by ${due}, id)::float8 / queue_weight`.as(
        "turn",
      ),
    ])
    .where("kind", "in", args.kinds)
    .where("used", "=", sql.lit(false))
    .where("own.signature", "is", null)
    .where("own.refusal", "is", null)
    .where((eb) =>
      eb.or([
        eb("own.next_check_at", "is", null),
        eb("own.next_check_at", "<=", formatStamp(args.nowMs)),
      ]),
    )
    .where("deadline", ">", BigInt(Math.floor(args.nowMs / 1000)));
  const rows = await db
    .selectFrom(open.as("open"))
    .select(["id", "kind", "delivery_id", "request"])
    .orderBy("turn")
    .orderBy("due")
    .orderBy("id")
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

/** Returns the newest price request for a token, wallet and route, and its answers; null without one. */
export async function getLatestPrice(
  db: Db,
  attestors: AttestorSet,
  scope: PriceScope,
  wallet: Address,
) {
  const row = await ofScope(db, scope)
    .select(["id", "request", "deadline"])
    .orderBy("created_at", "desc")
    .limit(1)
    .executeTakeFirst();
  if (!row) return null;
  const request = parseRequest(row.request);
  if (request.kind !== "price") throw new TypeError("expected the row of a price");
  const { rate, maxAmount } = request;
  const { deadline } = row;
  const order = { wallet, token: scope.token, route: scope.route, rate, maxAmount, deadline };
  const message = { kind: "price", chainId: scope.srcChain, order } as const;
  const counted = countAnswers(attestors, message, await listAnswers(db, row.id));
  return { rate, maxAmount, deadline, ...counted };
}

/** Returns the number of a wallet's next request of a kind, for any token and route. */
export async function nextNumber(
  db: Db | Tx,
  commitment: Hex32,
  kind: "price" | "refund",
): Promise<number> {
  const { asked } = await db
    .selectFrom("attestations")
    .select((eb) => eb.fn.countAll<string>().as("asked"))
    .where("delivery_id", "=", commitment)
    .where("kind", "=", kind)
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
    .where((eb) =>
      eb.exists(
        eb
          .selectFrom("attestation_answers")
          .select("attestation_id")
          .whereRef("attestation_id", "=", "attestations.id")
          .where("signature", "is not", null),
      ),
    )
    .where("deadline", ">=", at.timeS)
    .where("deadline", "<=", at.timeS + at.lifetimeS)
    .executeTakeFirstOrThrow();
  return row.lowest === null ? null : BigInt(row.lowest);
}

/** Reschedules a request that an attestor cannot answer yet. */
export async function rescheduleRequest(
  db: Db,
  id: AttestationId,
  { attestor, atMs }: { readonly attestor: Address; readonly atMs: number },
): Promise<void> {
  const due = { next_check_at: formatStamp(atMs) };
  await db
    .insertInto("attestation_answers")
    .values({ attestation_id: id, attestor, ...due })
    .onConflict((conflict) =>
      conflict.columns(["attestation_id", "attestor", "written_by"]).doUpdateSet(due),
    )
    .execute();
}

/** An attestor's answer to a request. */
interface NewAnswer {
  readonly id: AttestationId;
  readonly attestor: Address;
  readonly nowMs: number;
  readonly signature: Hex | null;
  readonly refusal: string | null;
}

/** Writes an attestor's answer, once. */
export const answerAttestation = gatherCalls(async (db, answers: readonly NewAnswer[]) => {
  await db
    .insertInto("attestation_answers")
    .values(
      answers.map(({ id, attestor, signature, refusal, nowMs }) => {
        const now = formatStamp(nowMs);
        return {
          attestation_id: id,
          attestor,
          signature,
          refusal,
          next_check_at: now,
          answered_at: now,
        };
      }),
    )
    .onConflict((conflict) =>
      conflict
        .columns(["attestation_id", "attestor", "written_by"])
        .doUpdateSet(({ ref }) => ({
          signature: ref("excluded.signature"),
          refusal: ref("excluded.refusal"),
          next_check_at: ref("excluded.next_check_at"),
          answered_at: ref("excluded.answered_at"),
        }))
        .where("attestation_answers.signature", "is", null)
        .where("attestation_answers.refusal", "is", null),
    )
    .execute();
  return answers.map(() => undefined);
});
