/** Facts of a deployment and of its mints, from which orders are built. */
import type { Commitment } from "../../core/commitment.ts";
import { type Address, type Hex32, NATIVE_SOL, padAddress } from "../../core/hex.ts";
import type { LockFacts, Payout } from "../port/index.ts";
import { mintOf, type TokenProgram } from "./derived-accounts.ts";

/** Facts of a mint. */
export interface MintFacts {
  readonly program: TokenProgram;
  readonly decimals: number;
  /** Whether Token-2022 withholds a fee of every transfer. */
  readonly hasTransferFee: boolean;
}

/** Wrapped SOL on every cluster. */
export const WRAPPED_SOL_FACTS: MintFacts = {
  program: "token",
  decimals: 9,
  hasTransferFee: false,
};

/** A lock of this chain's escrow as orders name it. */
export type OrderedLock = Omit<LockFacts, "commitment"> & { readonly commitment: Commitment };

/** Returns the ids of the locks of this chain's escrow, and of the payouts by this chain. */
export function createLockIds(
  {
    chainId,
    escrow,
    delivery,
  }: { readonly chainId: number; readonly escrow: Address; readonly delivery: Address },
  {
    hash,
    deliveryIdOf,
  }: {
    readonly hash: (commitment: Commitment) => Hex32;
    readonly deliveryIdOf: (
      lock: LockFacts & { readonly srcChain: number; readonly escrow: Address },
    ) => Hex32;
  },
): Pick<OrderFacts, "deliveryIdOfLock" | "deliveryIdOfPayout"> {
  return {
    deliveryIdOfLock: ({ commitment, ...lock }) =>
      deliveryIdOf({ ...lock, srcChain: chainId, escrow, commitment: hash(commitment) }),
    deliveryIdOfPayout: ({ commitment, srcToken: token, lockedAmount: amount, ...order }) =>
      deliveryIdOf({
        ...order,
        token,
        amount,
        delivery: padAddress(delivery),
        commitment: hash(commitment),
      }),
  };
}

/** Facts from which orders are built. */
export interface OrderFacts {
  /** Pays fees and rent, and receives rent back. */
  readonly feePayer: Address;
  readonly escrow: Address;
  readonly delivery: Address;
  readonly treasury: Address;
  /** Returns a commitment's vault: the signer derives it from the seed, others look it up. */
  readonly vaultOf: (commitment: Commitment) => Address | Promise<Address>;
  readonly hashCommitment: (commitment: Commitment) => Hex32;
  /** The id of the lock of this chain's escrow. */
  readonly deliveryIdOfLock: (lock: OrderedLock) => Hex32;
  readonly deliveryIdOfPayout: (payout: Payout) => Hex32;
  /** Throws for an unknown mint. Not called for wrapped SOL. */
  readonly mintFactsOf: (mint: Address) => MintFacts;
  /** Returns the rent of an account in lamports. Too high a value is harmless, since rent is returned. */
  readonly rentOf: (bytes: number) => bigint;
}

/** The facts of a mint with its address. */
export interface Mint extends MintFacts {
  readonly address: Address;
}

/** Returns the mint of a token; wrapped SOL for the native coin. */
export function readMint(token: Address, facts: OrderFacts): Mint {
  const address = mintOf(token);
  return token === NATIVE_SOL
    ? { address, ...WRAPPED_SOL_FACTS }
    : { address, ...facts.mintFactsOf(address) };
}
