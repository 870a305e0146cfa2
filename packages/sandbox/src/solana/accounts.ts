/**
 * The service's accounts on the Solana chain, as they follow from its seed (docs/solana.md has the derivation): who is
 * to be funded, and what contracts of other chains deliver through.
 */
import { createPrivateKey, createPublicKey, hkdfSync } from "node:crypto";
import { type Address, getAddressDecoder, getAddressEncoder } from "@solana/kit";
import type { Hex } from "viem";

const SALT = "sluice/solana/v1";
/** An ed25519 private key of 32 bytes as PKCS #8 (RFC 8410), up to the bytes themselves. */
const PKCS8_PREFIX = Buffer.from("302e020100300506032b657004220420", "hex");
/** A public key as SubjectPublicKeyInfo is 12 bytes and the key. */
const SPKI_PREFIX_LENGTH = 12;

const ROLES = ["binding", "escrow", "delivery", "settle", "deliver"] as const;
type Role = (typeof ROLES)[number];

/** The accounts of a service, in base58. */
export type SolanaAccounts = Readonly<Record<Role, Address>>;

/** The accounts of a seed of 32 bytes. */
export function deriveSolanaAccounts(seed: Hex): SolanaAccounts {
  const [binding, escrow, delivery, settle, deliver] = [
    addressOf(seed, "binding"),
    addressOf(seed, "escrow"),
    addressOf(seed, "delivery"),
    addressOf(seed, "settle"),
    addressOf(seed, "deliver"),
  ];
  return { binding, escrow, delivery, settle, deliver };
}

/** Where the service's locks and fees go. The key is the sandbox's alone, so any account of it does. */
export function deriveSolanaTreasury(key: Hex): Address {
  return addressOf(key, "delivery");
}

/** An address as contracts of other chains hold it: its 32 bytes. */
export function toBytes32(address: Address): Hex {
  return `0x${Buffer.from(getAddressEncoder().encode(address)).toString("hex")}`;
}

function addressOf(seed: Hex, role: Role): Address {
  const bytes = hkdfSync("sha256", Buffer.from(seed.slice(2), "hex"), SALT, role, 32);
  const key = createPrivateKey({
    key: Buffer.concat([PKCS8_PREFIX, Buffer.from(bytes)]),
    format: "der",
    type: "pkcs8",
  });
  const spki = createPublicKey(key).export({ format: "der", type: "spki" });
  return getAddressDecoder().decode(spki.subarray(SPKI_PREFIX_LENGTH));
}
