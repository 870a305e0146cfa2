/**
 * Digests of the attestors' messages for Solana and recovery of their signers. They are the same EIP-712 structs that
 * contracts verify on EVM chains; the domain's salt is the account that stands for the contract, and its chain id is the
 * hash of the cluster's first block, so that no other cluster accepts them.
 */
import { secp256k1 } from "@noble/curves/secp256k1";
import { keccak_256 } from "@noble/hashes/sha3";
import type { ClaimProof, ReturnProof, SignedPrice } from "../../chains/port/index.ts";
import {
  type Address,
  type EvmAddress,
  type Hex,
  type Hex32,
  padAddress,
  toEvmAddress,
} from "../../core/hex.ts";

const DOMAIN = "EIP712Domain(string name,string version,uint256 chainId,bytes32 salt)";
const VERSION = "1";
const DELIVER = "Deliver(bytes32 deliveryId,uint256 amount,uint256 windowStart)";
const CLAIM = "Claim(bytes32 deliveryId,uint256 paidAmount,uint256 deadline)";
const RETURN = "Return(bytes32 deliveryId,uint256 deadline)";
const PRICE =
  "Price(address factory,address wallet,bytes32 token,uint256 rate,uint256 maxAmount,uint256 deadline)";

/** Verifier of a message: an account of the signer, on a cluster named by the hash of its first block. */
export interface Verifier {
  readonly account: Address;
  readonly cluster: Hex32;
}

/** Returns the digest of a payout, for the delivery account. */
export function hashDeliver(
  delivery: Verifier,
  payout: { readonly deliveryId: Hex32; readonly amount: bigint; readonly windowStart: bigint },
): Uint8Array {
  const { deliveryId, amount, windowStart } = payout;
  return digestOf("Sluice Delivery", delivery, DELIVER, [deliveryId, amount, windowStart]);
}

/** Returns the digest of a claim, for the escrow account. */
export function hashClaim(escrow: Verifier, claim: ClaimProof): Uint8Array {
  const { deliveryId, paidAmount, deadline } = claim;
  return digestOf("Sluice Escrow", escrow, CLAIM, [deliveryId, paidAmount, deadline]);
}

/** Returns the digest of a return, for the escrow account. */
export function hashReturn(escrow: Verifier, { deliveryId, deadline }: ReturnProof): Uint8Array {
  return digestOf("Sluice Escrow", escrow, RETURN, [deliveryId, deadline]);
}

/** Returns the digest of a Solana token's price, for the escrow account. */
export function hashPrice(
  escrow: Verifier,
  price: SignedPrice & {
    /** The EVM factory. */
    readonly factory: EvmAddress;
    /** The address that the EVM factory would give the commitment's wallet. */
    readonly wallet: EvmAddress;
    readonly token: Address;
  },
): Uint8Array {
  const { factory, wallet, token, rate, maxAmount, deadline } = price;
  const words = [padAddress(factory), padAddress(wallet), token, rate, maxAmount, deadline];
  return digestOf("Sluice PricedRoute", escrow, PRICE, words);
}

/** Recovers a digest's signer from r, s (low half of the order) and v (27 or 28). Returns null for any other form. */
export function recoverSigner(digest: Uint8Array, signature: Hex): EvmAddress | null {
  const match = /^0x([0-9a-f]{128})(1b|1c)$/.exec(signature);
  if (!match) return null;
  const [, rs = "", v] = match;
  try {
    const parsed = secp256k1.Signature.fromCompact(rs).addRecoveryBit(v === "1b" ? 0 : 1);
    if (parsed.hasHighS()) return null;
    const [, ...point] = parsed.recoverPublicKey(digest).toRawBytes(false);
    return toEvmAddress(`0x${toHexDigits(keccak_256(Uint8Array.from(point))).slice(24)}`);
  } catch {
    // r or s is out of range, or r is not on the curve: no key made this signature.
    return null;
  }
}

/**
 * Recovers the signers of signatures in the form of the contracts: 65 bytes each, one after the other, strictly ascending
 * by signer. Returns null for any other form.
 */
export function recoverSigners(digest: Uint8Array, signatures: Hex): EvmAddress[] | null {
  const each = signatures.slice(2).match(/.{130}/gs) ?? [];
  if (each.length * 130 !== signatures.length - 2) return null;
  const signers: EvmAddress[] = [];
  for (const digits of each) {
    const signer = recoverSigner(digest, `0x${digits}`);
    const last = signers.at(-1);
    // Lower-case hex of one length sorts as the number does.
    if (signer === null || (last !== undefined && signer <= last)) return null;
    signers.push(signer);
  }
  return signers;
}

function digestOf(
  name: string,
  { account, cluster }: Verifier,
  type: string,
  words: readonly (string | bigint)[],
): Uint8Array {
  const domain = keccak_256(
    concat([hashText(DOMAIN), hashText(name), hashText(VERSION), wordOf(cluster), wordOf(account)]),
  );
  const struct = keccak_256(concat([hashText(type), ...words.map(wordOf)]));
  return keccak_256(concat([Uint8Array.of(0x19, 0x01), domain, struct]));
}

function hashText(text: string): Uint8Array {
  return keccak_256(Buffer.from(text, "utf8"));
}

/** Encodes 32 bytes of hex, or a number, as one ABI word. */
function wordOf(value: string | bigint): Uint8Array {
  const digits = typeof value === "bigint" ? value.toString(16).padStart(64, "0") : value.slice(2);
  return Buffer.from(digits, "hex");
}

function concat(parts: readonly Uint8Array[]): Uint8Array {
  return Buffer.concat(parts);
}

function toHexDigits(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString("hex");
}
