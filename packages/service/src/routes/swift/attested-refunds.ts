/** Requests for the attestors' signatures over refunds. */
import { sql } from "kysely";
import type { RefundProof } from "../../chains/port/index.ts";
import type { Hex32 } from "../../core/hex.ts";
import type { Db, Tx } from "../../db/schema.ts";
import type { AttestorSet } from "../../signers/port.ts";
import type { AttestationId } from "./attestation-requests.ts";
import { type Attestation, getAttestation, insertAttestation, nextNumber } from "./attestations.ts";

/** Class of the transaction-level lock under which requests of a commitment are numbered. */
const LOCK_CLASS = 15;

/** Asks every attestor for its signature over a refund. The caller holds the lock of the wallet. */
export async function insertRefundAttestation(
  tx: Tx,
  {
    srcChain,
    commitmentHash,
    proof,
  }: {
    readonly srcChain: number;
    readonly commitmentHash: Hex32;
    readonly proof: RefundProof;
  },
): Promise<AttestationId> {
  // The lock is of one token, and the number of all of them.
  await sql`select pg_advisory_xact_lock(${LOCK_CLASS}, hashtext(${commitmentHash}))`.execute(tx);
  const number = await nextNumber(tx, commitmentHash, "refund");
  const id: AttestationId = `refund:${commitmentHash}:${number}`;
  const { deadline } = proof;
  const request = { kind: "refund", srcChain, proof } as const;
  await insertAttestation(tx, { id, deliveryId: commitmentHash, deadline, request });
  return id;
}

/** Reads the answers to a request, counting signatures over exactly the given refund. */
export async function getRefundAttestation(
  db: Db | Tx,
  attestors: AttestorSet,
  id: AttestationId,
  { srcChain, proof }: { readonly srcChain: number; readonly proof: RefundProof },
): Promise<Attestation | null> {
  return getAttestation(db, attestors, id, () => ({
    kind: "refund",
    chainId: srcChain,
    order: proof,
  }));
}
