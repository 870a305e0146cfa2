/** Where deliveries go: the URL of an endpoint, and the signers of its valid secrets. */
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
  const [endpoints, secrets] = await Promise.all([
    db
      .selectFrom("webhook_endpoints")
      .select(["id", "url", "extended"])
      .where("id", "in", endpointIds)
      .execute(),
    db
      .selectFrom("webhook_secrets")
      .select(["id", "endpoint_id", "scheme", "sealed"])
      .where("endpoint_id", "in", endpointIds)
      .where((either) =>
        either.or([
          either("expires_at", "is", null),
          either("expires_at", ">", formatStamp(nowMs)),
        ]),
      )
      .orderBy("created_at", "desc")
      .execute(),
  ]);
  return new Map(
    endpoints.map(({ id, url, extended }) => {
      const own = secrets.filter((secret) => secret.endpoint_id === id);
      return [id, { url, extended, signers: own.flatMap((secret) => signerOf(secret) ?? []) }];
    }),
  );
}
