/** Where deliveries go: the URL of an endpoint, and the signers of its valid secrets. */
import { sql } from "kysely";
import { formatStamp } from "../core/stamp.ts";
import type { Secret } from "../core/secret.ts";
import type { Db } from "../db/schema.ts";
import {
  createMessageSigner,
  type MessageSigner,
  openSecret,
  type WebhookScheme,
} from "./secrets.ts";

/** An endpoint as a delivery needs it. */
export interface Target {
  readonly url: string;
  readonly extended: boolean;
  /** Of the valid secrets, the newest first. Empty if none can be decrypted. */
  readonly signers: readonly MessageSigner[];
}

/** Signers by the id of their secret, so that each is decrypted once. */
export type SignerMemory = (row: {
  readonly id: string;
  readonly scheme: string;
  readonly sealed: Buffer;
}) => MessageSigner | null;

const SIGNERS_MAX = 5_000;

export function createSignerMemory(pepper: Secret): SignerMemory {
  const known = new Map<string, MessageSigner>();
  return ({ id, scheme, sealed }) => {
    const found = known.get(id);
    if (found) return found;
    const secret = openSecret(pepper, id, sealed);
    if (secret === null) return null;
    // CAST: the column's check constraint allows only these values.
    const signer = createMessageSigner(scheme as WebhookScheme, secret);
    const [oldest] = known.keys();
    if (known.size >= SIGNERS_MAX && oldest !== undefined) known.delete(oldest);
    known.set(id, signer);
    return signer;
  };
}

/** Reads endpoints with the signers of their secrets that are valid now. */
export async function readTargets(
  db: Db,
  signerOf: SignerMemory,
  { endpointIds, nowMs }: { readonly endpointIds: readonly string[]; readonly nowMs: number },
): Promise<ReadonlyMap<string, Target>> {
  if (endpointIds.length === 0) return new Map();
  // A list of ids, of whatever length, is one value: the statement's text stays the same.
  const { rows } = await sql<TargetRow>`
    select endpoints.id as endpoint_id, endpoints.url, endpoints.extended,
           secrets.id, secrets.scheme, secrets.sealed
      from webhook_endpoints as endpoints left join webhook_secrets as secrets
           on secrets.endpoint_id = endpoints.id
           and (secrets.expires_at is null or secrets.expires_at > ${formatStamp(nowMs)})
     where endpoints.id = any(${[...endpointIds]}::uuid[])
     order by secrets.created_at desc`.execute(db);
  const targets = new Map<string, Target & { signers: MessageSigner[] }>();
  for (const { endpoint_id: endpointId, url, extended, id, scheme, sealed } of rows) {
    const target = targets.get(endpointId) ?? { url, extended, signers: [] };
    const signer = id === null || !scheme || !sealed ? null : signerOf({ id, scheme, sealed });
    if (signer) target.signers.push(signer);
    targets.set(endpointId, target);
  }
  return targets;
}

/** An endpoint with one of its secrets, or without any. */
interface TargetRow {
  readonly endpoint_id: string;
  readonly url: string;
  readonly extended: boolean;
  readonly id: string | null;
  readonly scheme: string | null;
  readonly sealed: Buffer | null;
}
