/**
 * Derives the service's accounts on the Solana chain from its seed (docs/solana.md specifies the derivation), to fund
 * them and to configure the routes of the EVM chains.
 */
import { createPrivateKey, createPublicKey, hkdfSync } from "node:crypto";
import { type Address, getAddressDecoder, getAddressEncoder } from "@solana/kit";
import type { Hex } from "viem";

const SALT = "sluice/solana/v1";
/** Prefix of a 32-byte ed25519 private key as PKCS #8 (RFC 8410). */
const PKCS8_PREFIX = Buffer.from("302e020100300506032b657004220420", "hex");
/** Length of the prefix of a public key as SubjectPublicKeyInfo. */
const SPKI_PREFIX_LENGTH = 12;

const ROLES = ["binding", "escrow", "delivery", "settle", "deliver"] as const;
type Role = (typeof ROLES)[number];

/** The accounts of the service, in base58. */
export type SolanaAccounts = Readonly<Record<Role, Address>>;

/** Derives the accounts from a 32-byte seed. */
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

/** Derives the treasury, which receives claimed locks and fees. Its key has no other use, so any role serves. */
export function deriveSolanaTreasury(key: Hex): Address {
  return addressOf(key, "delivery");
}

/** Converts an address to its 32 bytes, as contracts of EVM chains store it. */
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
