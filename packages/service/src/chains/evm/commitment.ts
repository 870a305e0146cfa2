/**
 * Derives addresses and ids from a commitment. The derivation can never change, because issued addresses depend on every
 * byte.
 */
import {
  concat,
  encodeAbiParameters,
  getContractAddress,
  getCreate2Address,
  keccak256,
  parseAbiParameters,
  stringToHex,
} from "viem";
import { type Commitment, COMMITMENT_VERSION, WALLET_KIND } from "../../core/commitment.ts";
import {
  type Address,
  type EvmAddress,
  type Hex,
  type Hex32,
  padAddress,
  toEvmAddress,
  toHex32,
} from "../../core/hex.ts";
import { memoize } from "../../core/memo.ts";
import type { LockFacts, Payout } from "../port/index.ts";

const DEPOSIT_DOMAIN = keccak256(stringToHex("sluice.deposit.v1"));
const DELIVERY_DOMAIN = keccak256(stringToHex("sluice.delivery.v1"));

const COMMITMENT_WORDS = parseAbiParameters(
  "bytes32, uint16, uint16, bytes32, bytes32, uint16, bytes32, bytes32, bytes32, uint16, uint16, bytes32, uint16",
);
const DELIVERY_WORDS = parseAbiParameters(
  "bytes32, uint16, bytes32, bytes32, bytes32, bytes32, uint256, uint256, uint64",
);

/** Commitments and locks whose hashes are remembered: those of a few minutes, in a few megabytes. */
const REMEMBERED_MAX = 4_000;

/** Returns the CREATE2 salt of a commitment. Throws if a number does not fit 16 bits. */
export const hashCommitment = memoize(
  (c: Commitment): Hex32 => {
    const words = [DEPOSIT_DOMAIN, COMMITMENT_VERSION, WALLET_KIND, ...wordsOf(c)] as const;
    return toHex32(keccak256(encodeAbiParameters(COMMITMENT_WORDS, words)));
  },
  (c) => JSON.stringify(wordsOf(c)),
  REMEMBERED_MAX,
);

/** Returns the fields of a commitment in the order in which they are hashed. */
function wordsOf(c: Commitment) {
  return [
    c.integrator,
    c.userId,
    c.destChain,
    c.destWallet,
    c.destToken,
    c.refundAuthority,
    c.maxFeeBps,
    c.maxSlippageBps,
    c.routes,
    c.flags,
  ] as const;
}

/** Returns the address of the wallet implementation of a factory: the first contract that the factory creates. */
export function implementationOf(factory: EvmAddress): EvmAddress {
  return toEvmAddress(getContractAddress({ opcode: "CREATE", from: factory, nonce: 1n }));
}

/** Factories whose creation code is remembered. */
const FACTORIES_MAX = 100;

/** Returns the creation code of a factory's wallets. */
export const walletInitCodeOf = memoize(
  (factory: EvmAddress): Hex =>
    concat([
      "0x3d603380600a3d3981f3",
      "0x36600557005b363d3d373d3d3d363d73",
      implementationOf(factory),
      "0x5af43d82803e903d91603157fd5bf3",
    ]),
  (factory) => factory,
  FACTORIES_MAX,
);

/** Returns the deposit address of a commitment under a factory, computed without a node. */
export function predictWallet(factory: EvmAddress, commitment: Commitment): EvmAddress {
  return walletOf(factory, hashCommitment(commitment));
}

const walletOf = memoize(
  (factory: EvmAddress, salt: Hex32) => {
    const bytecode = walletInitCodeOf(factory);
    return toEvmAddress(getCreate2Address({ from: factory, salt, bytecode }));
  },
  (factory, salt) => factory + salt,
  REMEMBERED_MAX,
);

/** The lock of a delivery, and where it is. */
type PlacedLock = LockFacts & {
  /** Bridge chain id of the chain that holds the lock. */
  readonly srcChain: number;
  readonly escrow: Address;
};

/** Returns the id of a lock, as the escrow and delivery contracts compute it. Addresses of any chain family are left-padded. */
export const deliveryIdOf = memoize(
  (lock: PlacedLock): Hex32 => {
    const words = [DELIVERY_DOMAIN, ...factsOf(lock)] as const;
    return toHex32(keccak256(encodeAbiParameters(DELIVERY_WORDS, words)));
  },
  (lock) => factsOf(lock).join(),
  REMEMBERED_MAX,
);

/** Returns the facts of a lock in the order in which they are hashed. */
function factsOf(lock: PlacedLock) {
  const { srcChain, escrow, delivery, commitment, token, amount, minOut, seq } = lock;
  return [
    srcChain,
    padAddress(escrow),
    delivery,
    commitment,
    padAddress(token),
    amount,
    minOut,
    seq,
  ] as const;
}

/** Returns the lock of a payout by a `Delivery` contract. */
export function lockOfPayout(delivery: Address, payout: Payout) {
  const { srcChain, escrow, srcToken: token, lockedAmount: amount, minOut, seq } = payout;
  const commitment = hashCommitment(payout.commitment);
  const facts = { delivery: padAddress(delivery), commitment, token, amount, minOut };
  return { srcChain, escrow, ...facts, seq };
}

/** Returns the id under which a `Delivery` contract would pay a payout. */
export function deliveryIdOfPayout(delivery: Address, payout: Payout): Hex32 {
  return deliveryIdOf(lockOfPayout(delivery, payout));
}
