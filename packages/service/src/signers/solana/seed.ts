/**
 * The seed and the accounts derived from it. docs/solana.md specifies the derivation; it must never change, because
 * issued vaults depend on it.
 */
import {
  createPrivateKey,
  createPublicKey,
  hkdfSync,
  type KeyObject,
  randomBytes,
  sign,
} from "node:crypto";
import { OperatingError } from "../../core/errors.ts";
import { type Address, type Hex32, toAddress } from "../../core/hex.ts";
import { Secret } from "../../core/secret.ts";

const SALT = "sluice/solana/v1";
const SEED_LENGTH = 32;

/** DER prefix of an ed25519 private key in PKCS #8 (RFC 8410); the 32 key bytes follow. */
const PKCS8_PREFIX = Buffer.from("302e020100300506032b657004220420", "hex");
/** Bytes before the public key in a SubjectPublicKeyInfo. */
const SPKI_PREFIX_LENGTH = 12;

export const ROLES = ["binding", "escrow", "delivery", "settle", "deliver"] as const;
export type Role = (typeof ROLES)[number];

/** One of the five accounts, or a commitment's vault. */
export type Whose = Role | { readonly vault: Hex32 };

/** Signs for every account of a deployment. Held only by code that builds the messages itself, never passed on. */
export interface Seed {
  /** The five accounts that are not vaults. */
  readonly accounts: Readonly<Record<Role, Address>>;
  vaultOf(commitment: Hex32): Address;
  /** Returns the ed25519 signature, 64 bytes. */
  sign(whose: Whose, message: Uint8Array): Uint8Array;
}

/** Opens a seed. Throws CONFIG_MISSING, which names the expected form but never the value. */
export function createSeed(secret: Secret, whose: string): Seed {
  if (!/^0x[0-9a-fA-F]{64}$/.test(secret.reveal())) {
    throw new OperatingError(
      "CONFIG_MISSING",
      `${whose}: the seed is malformed: expected 0x and 64 hex digits.`,
    );
  }
  // The closure keeps the `Secret`; bytes of seed and keys exist only during a derivation or signature.
  const addressOf = (account: Whose): Address => withKey(secret, account, publicKeyOf);
  const [binding, escrow, delivery, settle, deliver] = [
    addressOf("binding"),
    addressOf("escrow"),
    addressOf("delivery"),
    addressOf("settle"),
    addressOf("deliver"),
  ];
  return {
    accounts: { binding, escrow, delivery, settle, deliver },
    vaultOf: (commitment) => addressOf({ vault: commitment }),
    sign: (account, message) => withKey(secret, account, (key) => sign(null, message, key)),
  };
}

/** Generates a random seed. */
export function drawSeed(): Secret {
  const bytes = randomBytes(SEED_LENGTH);
  const secret = new Secret(`0x${bytes.toString("hex")}`);
  bytes.fill(0);
  return secret;
}

/** Returns the HKDF info that selects an account. */
function infoOf(account: Whose): Buffer {
  if (typeof account === "string") return Buffer.from(account, "utf8");
  return Buffer.concat([Buffer.from("vault", "utf8"), Buffer.from(account.vault.slice(2), "hex")]);
}

function withKey<Result>(seed: Secret, account: Whose, use: (key: KeyObject) => Result): Result {
  const bytes = Buffer.from(seed.reveal().slice(2), "hex");
  const derived = Buffer.from(hkdfSync("sha256", bytes, SALT, infoOf(account), SEED_LENGTH));
  const encoded = Buffer.concat([PKCS8_PREFIX, derived]);
  try {
    return use(createPrivateKey({ key: encoded, format: "der", type: "pkcs8" }));
  } finally {
    for (const held of [bytes, derived, encoded]) held.fill(0);
  }
}

function publicKeyOf(key: KeyObject): Address {
  const encoded = createPublicKey(key).export({ format: "der", type: "spki" });
  return toAddress(`0x${encoded.subarray(SPKI_PREFIX_LENGTH).toString("hex")}`);
}
