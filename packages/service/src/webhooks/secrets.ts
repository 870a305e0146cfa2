/**
 * Secrets of endpoints and signatures, by the Standard Webhooks specification 1.0.0: `v1a` is Ed25519 (`whsk_` private,
 * `whpk_` public), `v1` is HMAC-SHA256 (`whsec_`). The private key of `v1a` never leaves the service.
 *
 * Secrets are stored encrypted, so that a copy of the database signs nothing.
 */
import {
  createCipheriv,
  createDecipheriv,
  createHmac,
  createPrivateKey,
  generateKeyPairSync,
  generateKeySync,
  hkdfSync,
  type KeyObject,
  sign,
} from "node:crypto";
import { assert } from "../core/assert.ts";
import { Secret } from "../core/secret.ts";

/** Schemes of signatures. */
export const WEBHOOK_SCHEMES = ["v1a", "v1"] as const;
export type WebhookScheme = (typeof WEBHOOK_SCHEMES)[number];

/** A new secret. */
export interface NewSecret {
  /** As text: `whsk_…` or `whsec_…`. */
  readonly secret: Secret;
  /** `whpk_…`; null for `v1`. */
  readonly publicKey: string | null;
}

const PREFIXES = { v1a: "whsk_", v1: "whsec_" } as const;
const PUBLIC_PREFIX = "whpk_";
/** Bytes of a `v1` secret; the specification asks for 24 to 64. */
const HMAC_BYTES = 32;
/** DER of a PKCS #8 Ed25519 key up to its 32-byte seed. */
const PKCS8_PREFIX = Buffer.from("302e020100300506032b657004220420", "hex");
const SEED_BYTES = 32;

/** Creates a secret from the system's secure generator. */
export function createSecret(scheme: WebhookScheme): NewSecret {
  if (scheme === "v1") {
    const bytes = generateKeySync("hmac", { length: HMAC_BYTES * 8 }).export();
    return { secret: new Secret(`${PREFIXES.v1}${bytes.toString("base64")}`), publicKey: null };
  }
  const { privateKey, publicKey } = generateKeyPairSync("ed25519");
  const seed = privateKey.export({ format: "der", type: "pkcs8" }).subarray(-SEED_BYTES);
  const point = publicKey.export({ format: "der", type: "spki" }).subarray(-SEED_BYTES);
  return {
    // The form of the specification: the seed and the public key.
    secret: new Secret(`${PREFIXES.v1a}${Buffer.concat([seed, point]).toString("base64")}`),
    publicKey: `${PUBLIC_PREFIX}${point.toString("base64")}`,
  };
}

/** Signs messages with one secret. */
export interface MessageSigner {
  /** Returns a signature with its scheme, such as `v1a,MEUC…`. */
  sign(message: { readonly id: string; readonly timestamp: number; readonly body: string }): string;
}

/** Creates the signer of a secret. */
export function createMessageSigner(scheme: WebhookScheme, secret: Secret): MessageSigner {
  const prefix = PREFIXES[scheme];
  assert(secret.reveal().startsWith(prefix), "a secret is stored with its scheme");
  const bytes = Buffer.from(secret.reveal().slice(prefix.length), "base64");
  const signBytes = scheme === "v1" ? signHmac(bytes) : signEd25519(toPrivateKey(bytes));
  return {
    sign({ id, timestamp, body }) {
      const signature = signBytes(Buffer.from(`${id}.${timestamp}.${body}`));
      return `${scheme},${signature.toString("base64")}`;
    },
  };
}

function signHmac(key: Buffer): (message: Buffer) => Buffer {
  return (message) => createHmac("sha256", key).update(message).digest();
}

function signEd25519(key: KeyObject): (message: Buffer) => Buffer {
  return (message) => sign(null, message, key);
}

function toPrivateKey(bytes: Buffer): KeyObject {
  const der = Buffer.concat([PKCS8_PREFIX, bytes.subarray(0, SEED_BYTES)]);
  return createPrivateKey({ key: der, format: "der", type: "pkcs8" });
}

const CIPHER = "aes-256-gcm";
const TAG_BYTES = 16;
/** Each secret has a key of its own, which encrypts once: the nonce may be constant. */
const NONCE = Buffer.alloc(12);

/** Encrypts a secret under its id, with a key derived from the pepper. */
export function sealSecret(pepper: Secret, id: string, secret: Secret): Buffer {
  const cipher = createCipheriv(CIPHER, deriveKey(pepper, id), NONCE);
  return Buffer.concat([
    cipher.update(secret.reveal(), "utf8"),
    cipher.final(),
    cipher.getAuthTag(),
  ]);
}

/**
 * Decrypts a secret; null if it was encrypted with another pepper or id, or changed since.
 */
export function openSecret(pepper: Secret, id: string, sealed: Buffer): Secret | null {
  const decipher = createDecipheriv(CIPHER, deriveKey(pepper, id), NONCE);
  decipher.setAuthTag(sealed.subarray(-TAG_BYTES));
  const start = decipher.update(sealed.subarray(0, -TAG_BYTES));
  try {
    return new Secret(Buffer.concat([start, decipher.final()]).toString("utf8"));
  } catch (error) {
    // The only failure of `final` is a wrong tag, which Node reports without a code.
    if (error instanceof Error) return null;
    throw error;
  }
}

function deriveKey(pepper: Secret, id: string): Buffer {
  return Buffer.from(hkdfSync("sha256", pepper.reveal(), id, "sluice webhook secret", 32));
}
