/**
 * Digests of the attestors' messages for Solana and recovery of their signers. They are the same EIP-712 structs that
 * contracts verify on EVM chains; the domain's salt is the account that stands for the contract, and its chain id is the
 * hash of the cluster's first block, so that no other cluster accepts them.
 */
import { invert, mod } from "@noble/curves/abstract/modular";
import type { ProjPointType, RecoveredSignatureType } from "@noble/curves/abstract/weierstrass";
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
  return recoverKey(digest, signature)?.signer ?? null;
}

interface RecoveredKey {
  readonly signer: EvmAddress;
  readonly key: ProjPointType<bigint>;
}

function recoverKey(digest: Uint8Array, signature: Hex): RecoveredKey | null {
  const parsed = parseSignature(signature);
  if (parsed === null) return null;
  try {
    const key = parsed.recoverPublicKey(digest);
    const [, ...point] = key.toRawBytes(false);
    const signer = toEvmAddress(`0x${toHexDigits(keccak_256(Uint8Array.from(point))).slice(24)}`);
    return { signer, key };
  } catch {
    // r is not on the curve: no key made this signature.
    return null;
  }
}

function parseSignature(signature: Hex): RecoveredSignatureType | null {
  const match = /^0x([0-9a-f]{128})(1b|1c)$/.exec(signature);
  if (!match) return null;
  const [, rs = "", v] = match;
  try {
    const parsed = secp256k1.Signature.fromCompact(rs).addRecoveryBit(v === "1b" ? 0 : 1);
    return parsed.hasHighS() ? null : parsed;
  } catch {
    // r or s is out of range.
    return null;
  }
}

/** To check a signature against a known key takes a third of a recovery, so that more keys would save nothing. */
const KEYS_MAX = 3;

/**
 * Returns a recovery with the results of `recoverSigner`, for signatures of few accounts. It remembers their keys, each with a
 * table of its multiples. Without accounts it remembers the first key that it finds.
 */
export function createRecovery(accounts: readonly EvmAddress[]): typeof recoverSigner {
  if (accounts.length > KEYS_MAX) return recoverSigner;
  const isKept = (signer: EvmAddress) =>
    accounts.length === 0 ? keys.size === 0 : accounts.includes(signer);
  const keys = new Map<EvmAddress, ProjPointType<bigint>>();
  return (digest, signature) => {
    const parsed = parseSignature(signature);
    if (parsed === null) return null;
    for (const [signer, key] of keys) {
      if (isSignedBy(key, digest, parsed)) return signer;
    }
    const recovered = recoverKey(digest, signature);
    if (recovered && isKept(recovered.signer)) {
      keys.set(recovered.signer, secp256k1.utils.precompute(TABLE_BITS, recovered.key));
    }
    return recovered?.signer ?? null;
  };
}

/** Size of the windows of a table of multiples. */
const TABLE_BITS = 8;

/**
 * Returns whether a key made a signature over a digest: whether h/s G + r/s Q is the point that r and v describe, which is
 * what recovery solves for Q (SEC 1, sections 4.1.4 and 4.1.6).
 */
function isSignedBy(
  key: ProjPointType<bigint>,
  digest: Uint8Array,
  { r, s, recovery }: RecoveredSignatureType,
): boolean {
  const { n } = secp256k1.CURVE;
  const inverse = invert(s, n);
  const ofBase = mod(BigInt(`0x${toHexDigits(digest)}`) * inverse, n);
  // A digest that is a multiple of the order; nobody can find one.
  if (ofBase === 0n) return false;
  const base = secp256k1.ProjectivePoint.BASE.multiply(ofBase);
  const point = base.add(key.multiply(mod(r * inverse, n)));
  if (point.equals(secp256k1.ProjectivePoint.ZERO)) return false;
  const { x, y } = point.toAffine();
  return x === r && y % 2n === BigInt(recovery);
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
