import { createPublicKey, verify } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";

/** DER of an Ed25519 public key up to its 32 bytes. */
const SPKI_PREFIX = Buffer.from("302a300506032b6570032100", "hex");
const TOLERANCE_S = 300;

// begin: signature
/** Reports whether a webhook is signed by the key `whpk_…`, no more than five minutes ago. */
export function verifySignature(
  publicKey: string,
  headers: IncomingHttpHeaders,
  body: string,
  nowSeconds = Date.now() / 1_000,
): boolean {
  const { "webhook-id": id, "webhook-timestamp": timestamp, "webhook-signature": list } = headers;
  if (!(Math.abs(nowSeconds - Number(timestamp)) <= TOLERANCE_S)) return false;
  const point = Buffer.from(publicKey.replace("whpk_", ""), "base64");
  const key = createPublicKey({
    key: Buffer.concat([SPKI_PREFIX, point]),
    format: "der",
    type: "spki",
  });
  const signed = Buffer.from(`${String(id)}.${String(timestamp)}.${body}`);
  // During a rotation there are two signatures.
  return String(list)
    .split(" ")
    .filter((one) => one.startsWith("v1a,"))
    .some((one) => verify(null, signed, key, Buffer.from(one.slice(4), "base64")));
}
// end: signature
