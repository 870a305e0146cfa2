/**
 * The seed, and every account that follows from it. docs/solana.md has the derivation to the letter: issued vaults depend
 * on it for ever.
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

/** An ed25519 private key of 32 bytes as PKCS #8 (RFC 8410), up to the bytes themselves. */
const PKCS8_PREFIX = Buffer.from("302e020100300506032b657004220420", "hex");
/** A public key as SubjectPublicKeyInfo is 12 bytes and the key. */
const SPKI_PREFIX_LENGTH = 12;

export const ROLES = ["binding", "escrow", "delivery", "settle", "deliver"] as const;
export type Role = (typeof ROLES)[number];

/** One of the five accounts, or the vault of a commitment. */
export type Whose = Role | { readonly vault: Hex32 };

/** Signs for every account of a deployment. Never handed out: only what builds a message itself may hold one. */
export interface Seed {
  /** The five accounts that are not vaults. */
  readonly accounts: Readonly<Record<Role, Address>>;
  vaultOf(commitment: Hex32): Address;
  /** The ed25519 signature, 64 bytes. */
  sign(whose: Whose, message: Uint8Array): Uint8Array;
}

/** The accounts of a seed. Throws CONFIG_MISSING that names the expected form and never the value. */
export function createSeed(secret: Secret, whose: string): Seed {
  if (!/^0x[0-9a-fA-F]{64}$/.test(secret.reveal())) {
    throw new OperatingError(
      "CONFIG_MISSING",
      `${whose}: the seed is malformed: expected 0x and 64 hex digits.`,
    );
  }
  // The closure keeps the `Secret`; bytes of the seed and of keys live as long as one signature.
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

/** A new seed. */
export function drawSeed(): Secret {
  const bytes = randomBytes(SEED_LENGTH);
  const secret = new Secret(`0x${bytes.toString("hex")}`);
  bytes.fill(0);
  return secret;
}

/** What HKDF is told of an account. */
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
